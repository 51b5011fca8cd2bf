import { createApp } from "../src/worker/app.ts";
import { type Declaration, declarationsOf, operationOf } from "../src/worker/http/guard.ts";
import { realPorts } from "./doubles/ports.ts";
import { type Operation, operations } from "./operations.ts";

/** Every route as it runs: the guards carry these declarations. */
export const declared: readonly Declaration[] = declarationsOf(createApp(realPorts));

export type DeclaredOperation = Operation & Pick<Declaration, "owner">;

/** Every operation of the OpenAPI document with the owner that its route declares. */
export async function declaredOperations(): Promise<DeclaredOperation[]> {
  const owners = new Map(declared.map((one) => [operationOf(one), one.owner]));
  return (await operations()).map((operation) => {
    const owner = owners.get(operationOf(operation));
    if (owner === undefined) throw new Error(`no route declares ${operationOf(operation)}`);
    return { ...operation, owner };
  });
}

/** True for what is one user's: that user's token reaches it, and no other's. */
export const isOneUsers = ({ owner }: DeclaredOperation): boolean => owner.param !== undefined;
