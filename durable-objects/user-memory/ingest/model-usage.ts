export class ModelUsage {
  constructor(_sql: SqlStorage) {}
  allows(_now: number): boolean {
    return true;
  }
  add(_usage: { calls: number; inputTokens: number; outputTokens: number }, _now: number): void {}
  nextAllowed(now: number): number {
    return now;
  }
}
