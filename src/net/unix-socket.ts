import { chmodSync, existsSync, lstatSync, unlinkSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'

/** Removes a socket that an earlier run left; one that answers is in use, and listening then fails. */
export async function removeStale(path: string): Promise<void> {
  if (!existsSync(path) || !lstatSync(path).isSocket()) return
  const answers = await new Promise<boolean>((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
  if (!answers) unlinkSync(path)
}

/** The connections of {@link listenAt}: they have no address, which a connection over TCP lacks when it has ended. */
const accepted = new WeakSet<Socket>()
export const isUnix = (socket: Socket): boolean => accepted.has(socket)

/**
 * Listens at the path of a Unix socket with this mode and hands its connections to `onConnection`. Rejects with the
 * error of the system.
 */
export async function listenAt(
  path: string,
  { mode, maxConnections }: { readonly mode: number; readonly maxConnections: number },
  onConnection: (socket: Socket) => void,
): Promise<Server> {
  await removeStale(path)
  const server = createServer((socket) => {
    accepted.add(socket)
    onConnection(socket)
  })
  server.maxConnections = maxConnections
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ path, backlog: maxConnections }, resolve)
  })
  chmodSync(path, mode)
  return server
}
