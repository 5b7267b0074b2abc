// One start of an extension in a fake editor: a program, because a module is loaded only once in a process. Prints what it
// took as JSON. Arguments: the extension's file, and the file that it loads with the first use, if there is one.
import * as nodeModule from 'node:module';
import { pathToFileURL } from 'node:url';
import type { ExtensionContext } from 'vscode';
import { PROPOSALS } from '../src/vscode/grants.js';
import { FakeEditor } from '../test/doubles/editor.js';
import * as vscode from '../test/doubles/vscode.js';
import type { StartUp } from './startUp.js';

interface Extension {
  activate(context: ExtensionContext): unknown;
}

interface Resolved {
  readonly url: string;
  readonly shortCircuit?: boolean;
}
type Resolve = (specifier: string, context: object, next: (specifier: string, context: object) => Resolved) => Resolved;

const GIVEN = '__fakeVscode';

/** Gives the module `vscode` to extensions as an editor does: by a loader hook, as a module that takes it from outside. */
function provide(api: object): void {
  Object.assign(globalThis, { [GIVEN]: api });
  const url = moduleOf(
    Object.keys(api)
      .map((name) => `export const ${name} = globalThis.${GIVEN}.${name};`)
      .join('\n'),
  );
  // Node 20 has no `registerHooks`, and its types do not know it.
  if ('registerHooks' in nodeModule) {
    const resolve: Resolve = (specifier, context, next) =>
      specifier === 'vscode' ? { url, shortCircuit: true } : next(specifier, context);
    (nodeModule.registerHooks as (hooks: { resolve: Resolve }) => void)({ resolve });
  } else {
    const found = JSON.stringify({ url, shortCircuit: true });
    nodeModule.register(
      moduleOf(`export const resolve = (name, context, next) => name === 'vscode' ? ${found} : next(name, context);`),
    );
  }
}

function moduleOf(source: string): string {
  return `data:text/javascript;base64,${Buffer.from(source).toString('base64')}`;
}

const [file = '', first] = process.argv.slice(2);
provide(vscode);
const { context } = new FakeEditor({ proposals: PROPOSALS, folders: ['/fake/folder'] });
const began = performance.now();
const extension = (await import(pathToFileURL(file).href)) as Extension;
const loaded = performance.now();
extension.activate(context);
const activated = performance.now();
if (first !== undefined) await import(pathToFileURL(first).href);
const attaching = performance.now();

const startUp: StartUp = { load: loaded - began, activate: activated - loaded, first: attaching - activated };
// Whatever it began is not waited for.
process.stdout.write(JSON.stringify(startUp), () => process.exit());
