import underPressure from '@fastify/under-pressure'
import type { FastifyInstance } from 'fastify'
import { AppError } from '../base/errors.ts'

/** The event loop may be late by this much on average before new work is refused, ms. */
const MAX_DELAY_MS = 150
const SAMPLE_MS = 250
/** With less than this under way it is not the requests that make the loop late (a start, a busy machine): they are taken. */
const FEW = 32
/** What tells how the service is must be answered above all when it is not well. */
const EXEMPT: readonly string[] = ['/v1/health', '/v1/ready', '/metrics']

/** Refuses new work with 503 `overloaded` while the event loop is late because of what is under way. */
export async function refuseWhenLate(app: FastifyInstance, underWay: () => number): Promise<void> {
  await app.register(underPressure, {
    maxEventLoopDelay: MAX_DELAY_MS,
    sampleInterval: SAMPLE_MS,
    pressureHandler: async (request, reply) => {
      if (underWay() < FEW || EXEMPT.includes(request.routeOptions.url ?? '')) return
      void reply.header('retry-after', '1')
      throw new AppError('overloaded', 'too much is asked at once; ask again in a moment')
    },
  })
}
