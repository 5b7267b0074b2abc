/** What went wrong, as a person may read it. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
