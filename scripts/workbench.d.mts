export interface WorkbenchOptions {
  readonly extensionDir?: string;
  readonly vsix?: string;
  readonly beside?: readonly string[];
  readonly proposals?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly folder?: string;
  readonly password?: string;
}

export interface Workbench {
  readonly url: string;
  readonly folder: string;
  readonly home: string;
  readonly exited: Promise<unknown>;
  logs(): Promise<string>;
  stop(): Promise<void>;
}

export function workbenchCache(): string;
export function isWorkbenchThere(): boolean;
export function setUpWorkbench(options?: { readonly browser?: boolean; readonly signal?: AbortSignal }): Promise<void>;
export function startWorkbench(options: WorkbenchOptions): Promise<Workbench>;
