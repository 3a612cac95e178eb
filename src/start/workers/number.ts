/** The variable by which the first process of a service tells another one that it is a worker. */
export const WORKER = 'SONDE_WORKER'

/** The number of this worker; undefined in any other process: a worker has a channel to the one that started it. */
export const workerNumber = (): number | undefined =>
  process.send !== undefined && process.env[WORKER] !== undefined ? Number(process.env[WORKER]) : undefined
