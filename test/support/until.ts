/** Waits until a condition holds; fails after `mostMs`. */
export const until = async (holds: () => boolean | Promise<boolean>, mostMs = 5000): Promise<void> => {
  const endsAtMs = performance.now() + mostMs;
  while (!(await holds())) {
    if (performance.now() > endsAtMs) throw new Error(`a condition did not come true within ${mostMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};
