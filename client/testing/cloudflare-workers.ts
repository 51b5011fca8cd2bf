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

/** What a call hands over by reference. In one process everything is. */
// oxlint-disable-next-line typescript/no-extraneous-class
export class RpcTarget {}
