import { chmodSync, existsSync, lstatSync, unlinkSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'

const isSocketAt = (path: string): boolean => existsSync(path) && lstatSync(path).isSocket()

/** Whether a service listens at the path of a Unix socket. */
export async function answersAt(path: string): Promise<boolean> {
  if (!isSocketAt(path)) return false
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

/** Removes a socket that an earlier run left; one that answers is in use, and listening then fails. */
export async function removeStale(path: string): Promise<void> {
  if (isSocketAt(path) && !(await answersAt(path))) unlinkSync(path)
}

/** `fetch` over a Unix socket, whatever the host of the URL is. */
export async function fetchOver(socketPath: string): Promise<typeof fetch> {
  const { Agent, fetch: send } = await import('undici') // loaded on demand
  const dispatcher = new Agent({ connect: { socketPath } })
  // The same standard; the types of the two packages differ in name only.
  return ((url: URL, init: object) => send(url, { ...init, dispatcher })) as unknown as typeof fetch
}

/** The connections of {@link listenAt}: they have no address, which a connection over TCP lacks when it has ended. */
const accepted = new WeakMap<Socket, { readonly isOwn: boolean }>()
export const isUnix = (socket: Socket): boolean => accepted.has(socket)
/** Whether a connection came over a socket that only the owner of this installation can open. */
export const isOwn = (socket: Socket): boolean => accepted.get(socket)?.isOwn === true

/**
 * Listens at the path of a Unix socket with this mode and hands its connections to `onConnection`; with mode 0600 they
 * are {@link isOwn}. Rejects with the error of the system.
 */
export async function listenAt(
  path: string,
  { mode, maxConnections }: { readonly mode: number; readonly maxConnections: number },
  onConnection: (socket: Socket) => void,
): Promise<Server> {
  await removeStale(path)
  const server = createServer((socket) => {
    accepted.set(socket, { isOwn: mode === 0o600 })
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
