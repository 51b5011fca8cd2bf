const ALL = { users: ["*"], scopes: ["read", "write", "cache", "admin"] };

/** Props of a binding that refuse each of its calls, and the fields that the refusal names. */
export const wrongProps: readonly [name: string, props: Record<string, unknown>, fields: string[]][] = [
  ["are missing", {}, ["props.users", "props.scopes"]],
  ["name no user", { ...ALL, users: [] }, ["props.users"]],
  ["name two users", { ...ALL, users: ["alice", "bob"] }, ["props.users"]],
  ["name a user that is none", { ...ALL, users: [".."] }, ["props.users[0]"]],
  ["have no list of users", { ...ALL, users: "*" }, ["props.users"]],
  ["have no scope", { ...ALL, scopes: [] }, ["props.scopes"]],
  ["have a scope that there is not", { ...ALL, scopes: ["read", "all"] }, ["props.scopes[1]"]],
  ["share what is no shared owner", { ...ALL, shared: ["team"] }, ["props.shared"]],
  ["name a thread that is none", { ...ALL, thread: "t" }, ["props.thread"]],
  ["have a trust that there is not", { ...ALL, trust: "high" }, ["props.trust"]],
  ["have a namespace that no header carries", { ...ALL, namespace: "ü" }, ["props.namespace"]],
  ["have a name that no log should hold", { ...ALL, name: "my app" }, ["props.name"]],
  ["have a field that there is not", { ...ALL, user: "alice" }, ["props.user"]],
];
