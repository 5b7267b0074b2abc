import * as s from './sides.js';
import { conversation, type ReadSize } from './wire.js';
const gc = (globalThis as {gc?: () => void}).gc ?? (() => undefined);
const names = (process.argv[2] ?? 'parseAlone,ours').split(',');
const n = Number(process.argv[3] ?? 20000);
const rounds = Number(process.argv[4] ?? 9);
const sizes = (process.argv[5] ?? '4096,65536,frame').split(',').map(x => x === 'frame' ? x : Number(x)) as ReadSize[];
const c = conversation(n);
for (const size of sizes) {
  const t: Record<string, number[]> = {};
  for (let r = 0; r < rounds; r++) for (const name of names) {
    const side = (s as unknown as Record<string, s.Side>)[name]!;
    const run = await side.prepare(c, size);
    gc();
    const t0 = process.cpuUsage();
    const text = await run.text();
    const u = process.cpuUsage(t0); const d = (u.user + u.system) / 1000;
    if (text !== c.text) console.log('WRONG', name, text.length, c.text.length);
    await run.after?.();
    (t[name] ??= []).push(d * 1000 / n);
  }
  const med = (a: number[]) => a.toSorted((x, y) => x - y)[a.length >> 1]!;
  for (const name of names) console.log(size, name, med(t[name]!).toFixed(3), 'µs', (med(t[name]!) / med(t[names[0]!]!)).toFixed(2));
}
