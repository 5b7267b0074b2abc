import { expect, it } from 'vitest';
import { pause } from '../conformance/wire.js';
import { play, scheduleOf } from './schedule.js';

/**
 * `FAULT_SEED=n` plays one schedule; `FAULT_RUNS=n` that many, from the seed FAULT_FIRST on (`now`: from the time of
 * day). Without them the same schedules are played each time: to look for new ones is a run of its own.
 */
const ONE = process.env['FAULT_SEED'];
const RUNS = Number(process.env['FAULT_RUNS'] ?? '24');
const FROM = process.env['FAULT_FIRST'] ?? '1';
const FIRST = FROM === 'now' ? Math.floor(Date.now() / 1000) % 1_000_000_000 : Number(FROM);
const AT_ONCE = 4;

async function inTime<T>(playing: Promise<T>): Promise<T> {
  const late = pause(60_000).then(() => Promise.reject(new Error('it hangs')));
  return Promise.race([playing, late]);
}

it(
  'whatever the line does: the text is what the runtime sent, a request is answered once, a turn ends once',
  { timeout: 60_000 + RUNS * 3_000 },
  async () => {
    const seeds = ONE === undefined ? Array.from({ length: RUNS }, (_, at) => FIRST + at) : [Number(ONE)];
    console.log(`fault schedules: seeds ${seeds[0] ?? 0} to ${seeds.at(-1) ?? 0}`);
    const failures: string[] = [];
    let faults = 0;
    const waiting = [...seeds];
    const player = async () => {
      for (let seed = waiting.shift(); seed !== undefined; seed = waiting.shift()) {
        try {
          const happened = await inTime(play(scheduleOf(seed)));
          faults += happened;
        } catch (error) {
          const why = error instanceof Error ? (error.stack ?? error.message) : String(error);
          failures.push(`FAULT_SEED=${seed}: ${why}\n${JSON.stringify(scheduleOf(seed))}`);
          console.error(failures.at(-1));
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, player));
    expect(failures.join('\n\n')).toBe('');
    expect(faults).toBeGreaterThan(seeds.length);
  },
);
