import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Shorter answers gain nothing from compression. */
const MIN_BYTES = 1_024
/** Brotli's middle quality: twice as fast as the best, and a few per cent larger. */
const QUALITY = 4

const CODERS = {
  br: (body: Buffer): Promise<Buffer> =>
    promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: QUALITY } }),
  gzip: (body: Buffer): Promise<Buffer> => promisify(gzip)(body),
} as const
type Coding = keyof typeof CODERS

/** `body` in a content coding, compressed by a thread of the pool. */
const encode = (coding: Coding, body: Buffer): Promise<Buffer> => CODERS[coding](body)

/**
 * The coding that a client accepts (Accept-Encoding, RFC 9110 §12.5.3), Brotli before gzip; undefined: neither of them.
 */
export function codingFor(accepted: string | undefined): Coding | undefined {
  const items = (accepted ?? '').slice(0, 500).toLowerCase().split(',')
  const takes = (name: string): boolean | undefined => {
    const item = items.map((text) => text.trim()).find((text) => text === name || text.startsWith(`${name};`))
    return item === undefined ? undefined : !/;\s*q\s*=\s*0(?:\.0*)?\s*$/.test(item)
  }
  const any = takes('*') === true
  if (takes('br') ?? any) return 'br'
  return (takes('gzip') ?? any) ? 'gzip' : undefined
}

/**
 * Compresses the text of an answer as a whole, so that a slow client holds only the compressed bytes and no encoder
 * with its window. Streams, short answers and encoded ones are unchanged.
 */
export function compressed(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: (error: Error | null, payload?: unknown) => void,
): void {
  if (typeof payload !== 'string' || payload.length < MIN_BYTES || reply.hasHeader('content-encoding')) {
    done(null, payload)
    return
  }
  void reply.header('vary', vary(reply.getHeader('vary')))
  const coding = request.method === 'HEAD' ? undefined : codingFor(request.headers['accept-encoding'])
  if (!coding) {
    done(null, payload)
    return
  }
  encode(coding, Buffer.from(payload)).then((body) => {
    void reply.header('content-encoding', coding).removeHeader('content-length')
    done(null, body)
  }, done)
}

/** The request fields on which an answer depends, including the coding (RFC 9110 §12.5.5). */
const vary = (others: unknown): string => [...(others ? [String(others)] : []), 'accept-encoding'].join(', ')

/** A body that is the same for every caller. */
type Content = { readonly type: string; readonly body: Buffer }

/**
 * Answers with a body that is created with the first request and kept for the life of the process, compressed once for
 * each coding. If creating it fails, the next request tries again.
 */
export function fromMemory(make: () => Promise<Content>) {
  const bodies = new Map<Coding | 'plain', Promise<Buffer>>()
  let making: Promise<Content> | undefined

  const content = (): Promise<Content> => {
    making ??= make().catch((error: unknown) => {
      making = undefined
      throw error
    })
    return making
  }

  async function bodyIn(coding: Coding | 'plain'): Promise<Buffer> {
    const { body } = await content()
    if (coding === 'plain') return body
    const known = bodies.get(coding) ?? encode(coding, body)
    bodies.set(coding, known)
    return known
  }

  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { type } = await content()
    const coding = /^image\/png/.test(type) ? undefined : codingFor(request.headers['accept-encoding'])
    const body = await bodyIn(coding ?? 'plain')
    if (coding) void reply.header('content-encoding', coding)
    return reply
      .type(type)
      .header('vary', vary(reply.getHeader('vary')))
      .send(body)
  }
}
