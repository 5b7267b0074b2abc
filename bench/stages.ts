import { configureStore } from '@reduxjs/toolkit';
import { parseAlone, ours, type Side } from './sides.js';
import { closedBody } from './body.js';
import { conversation, runtimeWire, type ReadSize } from './wire.js';
import { readEvents } from '../src/services/events.js';
import { eventMeta, eventReceived } from '../src/store/events.js';
import { rootReducer } from '../src/store/root.js';
import { opened } from '../src/store/connections.js';
import { selectNewParts, startCursor } from '../src/selectors/newParts.js';
const gc = (globalThis as {gc?: () => void}).gc ?? (() => undefined);
const n = Number(process.argv[2] ?? 20000);
const rounds = Number(process.argv[3] ?? 15);
const sizes = (process.argv[4] ?? '4096,65536,frame').split(',').map(x => x === 'frame' ? x : Number(x)) as ReadSize[];
const only = process.argv[5]?.split(',');
const c = conversation(n);
const O = opened({ connection: 'a', origin: 'api', target: { baseUrl: 'http://127.0.0.1:9', clientId: 'a', credential: { kind: 'secret', key: 'a' }, permissions: null } });
const read: Side = { name: 'readEvents', input: '', prepare(c, size) {
  const s = readEvents(closedBody(runtimeWire(c, size).reads), () => undefined);
  return { async text() { let t = ''; for await (const k of s.chunks) for (const e of k.events) if (e.kind === 'text_delta') t += e.text; return t; } };
} };
const reduce: Side = { name: 'reduce', input: '', prepare(c, size) {
  const s = readEvents(closedBody(runtimeWire(c, size).reads), () => undefined);
  let state = rootReducer(rootReducer(undefined, { type: 'x' }), O);
  let cursor = startCursor(state, 'a');
  return { async text() { let t = ''; for await (const k of s.chunks) { const m = eventMeta('a', 1); for (const e of k.events) state = rootReducer(state, eventReceived(e, m));  }
  const r = selectNewParts(state, 'a', cursor); cursor = r.cursor; for (const p of r.parts) if (p.kind === 'markdown') t += p.text; return t; } };
} };
const parts: Side = { name: 'reduce+parts', input: '', prepare(c, size) {
  const s = readEvents(closedBody(runtimeWire(c, size).reads), () => undefined);
  let state = rootReducer(rootReducer(undefined, { type: 'x' }), O);
  let cursor = startCursor(state, 'a');
  return { async text() { let t = ''; for await (const k of s.chunks) { const m = eventMeta('a', 1); for (const e of k.events) state = rootReducer(state, eventReceived(e, m)); 
  const r = selectNewParts(state, 'a', cursor); cursor = r.cursor; for (const p of r.parts) if (p.kind === 'markdown') t += p.text; } return t; } };
} };
const store: Side = { name: 'store+parts', input: '', prepare(c, size) {
  const s = readEvents(closedBody(runtimeWire(c, size).reads), () => undefined);
  const st = configureStore({ reducer: rootReducer, devTools: false, middleware: (d) => d({ thunk: false, serializableCheck: false, immutableCheck: false, actionCreatorCheck: false }), enhancers: (d) => d({ autoBatch: { type: 'tick' } }) });
  st.dispatch(O);
  let cursor = startCursor(st.getState(), 'a');
  return { async text() { let t = '';
  const un = st.subscribe(() => { const r = selectNewParts(st.getState(), 'a', cursor); cursor = r.cursor; for (const p of r.parts) if (p.kind === 'markdown') t += p.text; });
  for await (const k of s.chunks) { const m = eventMeta('a', 1); for (const e of k.events) st.dispatch(eventReceived(e, m)); } await null; un(); return t; } };
} };
const all = [parseAlone, read, reduce, parts, store, ours].filter((s) => !only || only.includes(s.name));
for (const size of sizes) {
  const t = all.map(() => [] as number[]);
  for (let r = 0; r < rounds; r++) for (const [i, side] of all.entries()) {
    const run = await side.prepare(c, size);
    gc();
    const t0 = process.cpuUsage();
    const text = await run.text();
    const u = process.cpuUsage(t0); const d = (u.user + u.system) / 1000;
    if (text !== c.text) console.log('WRONG', side.name, text.length, c.text.length);
    await run.after?.();
    t[i]!.push(d * 1000 / n);
  }
  const sorted = (a: number[]) => a.toSorted((x, y) => x - y);
  const med = (a: number[]) => sorted(a)[a.length >> 1]!;
  for (const [i, side] of all.entries()) console.log(String(size).padEnd(6), side.name.padEnd(24), 'med', med(t[i]!).toFixed(3), 'min', sorted(t[i]!)[0]!.toFixed(3), 'ratio(med of rounds)', med(t[i]!.map((x, r) => x / t[0]![r]!)).toFixed(2), 'min/min', (sorted(t[i]!)[0]! / sorted(t[0]!)[0]!).toFixed(2));
}
console.log(process.version);
