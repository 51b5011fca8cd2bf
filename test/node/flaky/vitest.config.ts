export default {
  test: { include: ["test/node/flaky/*.fixture.ts"], root: `${import.meta.dirname}/../../..` },
};
