import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll } from 'vitest'
import { z } from 'zod'
import { askService } from '../../src/cli/ask-service.ts'
import { health } from '../../src/operations/health.ts'
import { isTaken, testBounds } from './table.ts'

/** Bounds of the command line, of the client and of the configuration. */
let padding = 0
const server = createServer((_request, response) => {
  response.end('{"status":"ok"}'.padEnd(padding))
})
const origin = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const NEVER = new AbortController().signal
function isAnswerRead(size: number): Promise<boolean> {
  padding = size
  const to = { server: origin(), key: undefined, peerSecret: undefined, nodeId: undefined, now: () => 0 }
  return isTaken(() => askService(health, {}, to, NEVER))
}

const deep = z.object({
  get a() {
    return deep.optional()
  },
})

const given = health.receive({ status: 'ok' })
if (!given.ok) throw new Error(given.problem.text)

testBounds([['src/cli/ask-service.ts MAX_ANSWER', 16 * 1024 * 1024, isAnswerRead]])
