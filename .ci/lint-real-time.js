// A rule of the linter (`npm run check:lint`): no test reads the real clock, which makes it red by chance on a busy machine.
// In JavaScript, as the linter loads it by the Node that runs it.

/** Who may, and why. */
const exceptions = {
  "test/from-now.ts": "gives a time that is far from now",
};

const USE =
  "A test that reads the real clock is red by chance. In workerd use `clock()` and `control` of test/doubles/control.ts; " +
  "for a server use `fromNow()` of test/from-now.ts; to let time pass use `pass()` of packages/adapters/test/clocked.ts.";
const POLL = "This gives up after a second. Use `expect.poll`, to which vitest.config.ts gives a minute.";

const isName = (node, name) => node.type === "Identifier" && node.name === name;

const realTime = {
  create(context) {
    const path = context.filename.replaceAll("\\", "/");
    if (Object.keys(exceptions).some((file) => path.endsWith(`/${file}`))) return {};
    return {
      MemberExpression(node) {
        const clock = isName(node.object, "Date") || isName(node.object, "performance");
        if (clock && isName(node.property, "now")) context.report({ node, message: USE });
        if (isName(node.object, "vi") && /^wait(For|Until)$/.test(node.property.name ?? ""))
          context.report({ node, message: POLL });
      },
      NewExpression(node) {
        if (isName(node.callee, "Date") && node.arguments.length === 0)
          context.report({ node, message: USE });
      },
    };
  },
};

export default { meta: { name: "tests" }, rules: { "no-real-time": realTime } };
