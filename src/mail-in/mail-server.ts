import type { SMTPServer, SMTPServerDataStream } from 'smtp-server'
import { removeStale } from '../net/unix-socket.ts'

export type Listening = Awaited<ReturnType<typeof listenAt>>

/** A refusal of a command: the reply of the server. */
export const refusal = (code: number, text: string): Error => Object.assign(new Error(text), { responseCode: code })

/** Listens on a host and port, or on the path of a socket. Rejects if that is not possible. */
export async function listenAt(server: SMTPServer, listen: string) {
  const place = placeOf(listen)
  if ('path' in place) await removeStale(place.path)
  await new Promise<void>((resolve, reject) => {
    server.server.once('error', reject)
    const done = (): void => {
      server.server.off('error', reject)
      resolve()
    }
    if ('path' in place) server.server.listen(place.path, done)
    else server.listen(place.port, place.host, done)
  })
  const bound = server.server.address()
  return {
    /** The port, if it listens on one. */
    port: typeof bound === 'object' ? bound?.port : undefined,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

/** Octets of a message that are gathered in one piece. */
const BLOCK = 65_536

/**
 * A message as it was sent, or undefined if it has more than `max` octets; `keep` is asked for each piece, and false
 * drops the message.
 */
export async function readMessage(
  stream: SMTPServerDataStream,
  max: number,
  keep: (octets: number) => boolean = () => true,
): Promise<Buffer | 'too_large' | 'dropped'> {
  const blocks: Buffer[] = []
  let free = Buffer.alloc(0)
  let size = 0
  let isDropped = false
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length
    isDropped ||= size <= max && !keep(chunk.length)
    if (size > max || isDropped) {
      blocks.length = 0
      continue
    }
    // Copied: a piece of one octet takes as much memory as one of a hundred.
    const fits = chunk.copy(free)
    free = free.subarray(fits)
    if (fits === chunk.length) continue
    const block = Buffer.allocUnsafeSlow(Math.max(BLOCK, chunk.length - fits))
    blocks.push(block)
    free = block.subarray(chunk.copy(block, 0, fits))
  }
  if (size > max) return 'too_large'
  return isDropped ? 'dropped' : Buffer.concat(blocks, size)
}

type Place = { readonly path: string } | { readonly host: string; readonly port: number }

/** A path contains a slash; everything else is a host and a port. */
export function placeOf(listen: string): Place {
  if (listen.includes('/')) return { path: listen }
  const at = listen.lastIndexOf(':')
  return { host: listen.slice(0, at).replace(/^\[|\]$/g, ''), port: Number(listen.slice(at + 1)) }
}
