import { connect } from 'node:net'
import { untilReady } from '../processes.ts'

/** Resolves when every address takes connections on the port; rejects after 30 s with the server's last words. */
export const untilTaken = async (name: string, addresses: readonly string[], port = 25): Promise<void> =>
  void (await Promise.all(addresses.map((host) => untilReady(name, () => takesConnections(host, port)))))

const takesConnections = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port })
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.resetAndDestroy())
  })
