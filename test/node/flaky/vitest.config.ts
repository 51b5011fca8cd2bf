const { FLAKY_ROOT } = process.env;

export default {
  test:
    FLAKY_ROOT === undefined
      ? { include: ["test/node/flaky/*.fixture.ts"], root: `${import.meta.dirname}/../../..` }
      : { include: ["*.fixture.ts"], root: FLAKY_ROOT },
};
