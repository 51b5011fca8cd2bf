// Keyv's own tests of a store, whole.
import suite, { keyvIteratorTests } from "@keyv/test-suite";
import { Keyv } from "keyv";
import * as test from "vitest";
import { cairn } from "../../client/src/index.ts";
import { cairnKeyv } from "../src/keyv.ts";
import { newUser, tokenOf } from "./cairn.ts";

const user = newUser();
const memory = cairn({ url: test.inject("cairn").url, token: () => tokenOf(user) });
const store = () => cairnKeyv({ memory, user });

// It brings a vitest of its own, whose types also name its benchmarks.
const vitest = test as unknown as Parameters<typeof suite>[0];
suite(vitest, Keyv, store);
keyvIteratorTests(vitest, Keyv, store);
