import type { Metafile } from 'esbuild';

export interface LoadedBytes {
  readonly start: number;
  readonly attached: number;
  readonly chatting: number;
  readonly packed: number;
}

export function loadedBytes(metafile: Metafile): LoadedBytes;
export function build(outdir?: string): Promise<{ readonly programs: Metafile; readonly extension: Metafile }>;
export function buildRuntime(outfile: string): Promise<void>;
