import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { inTurns } from './turns.ts'

/**
 * Ends at most `perTurn` connections in one turn of the event loop: a client (or a proxy) that held thousands and dies
 * ends them all at once, and as many requests are answered meanwhile as before. A socket counts as destroyed at once;
 * its descriptor is closed in its turn.
 */
export function endInTurns(server: Server, perTurn: number): void {
  const end = inTurns((step: () => void) => step(), perTurn)
  server.on('connection', (socket: Socket) => {
    for (const listener of socket.listeners('end') as (() => void)[]) {
      socket.off('end', listener)
      socket.on('end', () => end(() => listener.call(socket)))
    }
    const destroy = socket._destroy
    socket._destroy = (error, done) => end(() => destroy.call(socket, error, done))
  })
}
