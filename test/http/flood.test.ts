import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Program, startProgram } from '../lab/program.ts'

let program: Program
beforeAll(async () => {
  program = await startProgram()
}, 60_000)
afterAll(() => program.stop())
const MIB = 1024 * 1024

/** Without a key, and nothing is ever read: before, 1.8 GB and 11 s of health. */
it.runIf(existsSync('/proc/self/statm')).each(['/openapi.json', '/v1/ready', '/v1/health', '/v1/blacklists'])(
  '8 connections × 512 KiB of pipelined requests of %s take some tens of MB, and health is answered',
  async (path) => {
    const { port } = new URL(program.url)
    const request = `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`
    const atFirst = program.residentBytes()
    const sockets = Array.from({ length: 8 }, () => {
      const socket = connect(Number(port), '127.0.0.1')
      socket.on('error', () => {})
      socket.pause()
      socket.write(request.repeat(Math.ceil((512 * 1024) / request.length)))
      return socket
    })
    let most = 0
    for (let i = 0; i < 20; i++) {
      expect((await fetch(`${program.url}/v1/health`)).status).toBe(200)
      most = Math.max(most, program.residentBytes() - atFirst)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    for (const socket of sockets) socket.destroy()
    expect(most / MIB).toBeLessThan(80)
  },
  60_000,
)
