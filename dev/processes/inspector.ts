/** Calls methods of the DevTools protocol of a process, whose address its inspector gives (`webSocketDebuggerUrl`). */
export const inspectorAt = async (address: string) => {
  const socket = new WebSocket(address);
  await new Promise((resolve) => socket.addEventListener("open", resolve, { once: true }));
  const waiting = new Map<number, (result: unknown) => void>();
  socket.addEventListener("message", ({ data }) => {
    const { id = 0, result } = JSON.parse(String(data)) as { id?: number; result?: unknown }; // as the DevTools protocol says
    waiting.get(id)?.(result);
    waiting.delete(id);
  });
  let sent = 0;
  return {
    call: (method: string, params = {}): Promise<unknown> => {
      const { promise, resolve } = Promise.withResolvers<unknown>();
      waiting.set(++sent, resolve);
      socket.send(JSON.stringify({ id: sent, method, params }));
      return promise;
    },
    close: () => socket.close(),
  };
};
