/** What a figure has to be. */
export interface Bar {
  readonly bar: string;
  readonly value: number;
  readonly limit: number;
  readonly unit: Unit;
  readonly met: boolean;
  /** What we would like it to be, beyond the bar. */
  readonly aim?: number;
}

export type Unit = '×' | ' ms' | ' KB';

export function atMost(bar: string, value: number, limit: number, unit: Unit = '×'): Bar {
  return { bar, value, limit, unit, met: value <= limit };
}

export function atLeast(bar: string, value: number, limit: number, unit: Unit = '×'): Bar {
  return { bar, value, limit, unit, met: value >= limit };
}

export function barText({ bar, value, unit, met, aim }: Bar): string {
  const aimed = aim === undefined ? '' : `, aim ${aim}${unit}${value <= aim ? ' reached' : ''}`;
  return `  ${met ? 'met   ' : 'MISSED'} ${bar}: ${value.toFixed(2)}${unit}${aimed}`;
}
