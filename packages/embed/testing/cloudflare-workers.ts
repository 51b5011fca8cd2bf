// What stands for the module `cloudflare:workers` where Cairn runs in Node.

/** As the platform's: keeps what it is made with. */
export class DurableObject<Env = unknown> {
  protected readonly ctx: DurableObjectState;
  protected readonly env: Env;

  constructor(ctx: DurableObjectState, env: Env) {
    this.ctx = ctx;
    this.env = env;
  }
}

/** Base of objects that a call passes by reference. In one process all are. */
// oxlint-disable-next-line typescript/no-extraneous-class
export class RpcTarget {}

/** Base of a class that the library of sign-ins exports, and that nothing here makes. */
// oxlint-disable-next-line typescript/no-extraneous-class
export class WorkerEntrypoint {}
