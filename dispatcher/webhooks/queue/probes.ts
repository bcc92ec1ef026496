/** Places for requests to endpoints that are not trusted, which all endpoint queues of a process share. */
export type Probes = {
  isFull: () => boolean;
  /** Takes a place for a request, if it `needs` one. The answer gives it back, and tells whether all were taken. */
  begin: (needsPlace: boolean) => () => boolean;
};

/** Each that hangs keeps a connection open, and up to 1.5 MB. */
const mostAtOnce = 200;

export const probes = (most = mostAtOnce): Probes => {
  let used = 0;
  const isFull = (): boolean => used >= most;
  return {
    isFull,
    begin: (needsPlace) => {
      if (!needsPlace) return () => false;
      used++;
      return () => {
        const wasFull = isFull();
        used--;
        return wasFull;
      };
    },
  };
};
