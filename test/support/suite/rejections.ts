// The test that runs fails of a rejection that nobody handles: mocha alone drops it.
process.on("unhandledRejection", (reason) => {
  throw reason;
});
