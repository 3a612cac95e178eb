import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Coding, codingFor, encode, vary } from './compress.ts'

/** A body that is the same for every caller. */
export type Content = { readonly type: string; readonly body: Buffer }

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
