import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { labDatabaseUrl } from '../lab/database.ts'
import { type Program, startProgram } from '../lab/program.ts'

/** What the uploads of one caller can cost the service. */
let program: Program
beforeAll(async () => {
  program = await startProgram(['--database-url', await labDatabaseUrl(), '--rate', '100000'])
}, 60_000)
afterAll(() => program.stop())

const MIB = 1024 * 1024

/** `sent` resolves once the service, or the system for it, has taken the body. */
type Open = { readonly socket: Socket; readonly answer: Promise<string>; readonly sent: Promise<void> }

/** An upload without an end. */
function open(type: string, body: string | Buffer, fields = ''): Open {
  const { port } = new URL(program.url)
  const socket = connect(Number(port), '127.0.0.1')
  const head = `POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\n${fields}Transfer-Encoding: chunked\r\n\r\n`
  let said = ''
  const answer = new Promise<string>((resolve) => {
    socket.on('data', (chunk) => {
      said += chunk
      if (said.includes('\r\n\r\n')) resolve(said)
    })
    socket.on('close', () => resolve(said))
    socket.on('error', () => resolve(said))
  })
  socket.write(head)
  socket.write(`${body.length.toString(16)}\r\n`)
  socket.write(body)
  const sent = new Promise<void>((resolve) => socket.write('\r\n', () => resolve()))
  return { socket, answer, sent }
}
const statusOf = (said: string): number => Number(/^HTTP\/1\.1 (\d+)/.exec(said)?.[1] ?? 0)
const health = async (): Promise<number> => (await fetch(`${program.url}/v1/health`)).status

describe('one key', () => {
  it('has at most 16 open uploads; records that never end stay within their bound', async () => {
    const record = Buffer.from(`email,note\nx@a.example,"${'y'.repeat(32 * MIB)}`)
    const before = program.residentBytes()
    const opened = Array.from({ length: 45 }, () => open('text/csv', record))
    const refused: string[] = []
    const ended = opened.map(({ answer }) => answer.then((said) => void refused.push(said)))
    let isRead = false
    const read = Promise.all(opened.map(({ answer, sent }) => Promise.race([answer, sent]))).then(() => {
      isRead = true
    })
    let most = 0
    while (!isRead) {
      expect(await health()).toBe(200)
      most = Math.max(most, program.residentBytes() - before)
      await Promise.race([read, new Promise((resolve) => setTimeout(resolve, 100))])
    }
    // On a busy machine the database may be away (502) for one of the 16 that were let in.
    const ofBound = () => refused.filter((said) => statusOf(said) !== 502)
    await expect.poll(() => ofBound().map(statusOf), { timeout: 30_000 }).toEqual(Array(29).fill(429))
    expect(ofBound()[0]).toContain('too_many_uploads')
    // The records that are read are 512 MiB. Garbage that is not yet collected counts, more of it on a busy machine.
    expect(most / MIB).toBeLessThan(320)
    for (const { socket } of opened) socket.destroy()
    await Promise.all(ended)
  }, 120_000)
})

describe('a list that is refused in the middle of its upload', () => {
  it.each<[string, string, string | Buffer, string, number, string]>([
    ['too many columns', 'text/csv', `email\n${','.repeat(3_000_000)}`, '', 400, 'more than 1000 columns'],
    [
      'a name of 2 KiB in its header',
      'text/csv',
      `email,${'n'.repeat(2_000)}\n${'x@a.example,1\n'.repeat(9_000)}`,
      '',
      400,
      'column 2',
    ],
    ['br', 'text/csv', 'x'.repeat(1_000_000), 'Content-Encoding: br\r\n', 415, '\\"br\\"'],
  ])('%s: the caller is told why', async (_, type, body, fields, status, words) => {
    const said = async (): Promise<string> => {
      const { socket, answer } = open(type, body, fields)
      const text = await answer
      socket.destroy()
      return text
    }
    // The places of uploads whose clients have gone are free soon.
    await expect.poll(async () => statusOf(await said()), { timeout: 30_000 }).not.toBe(429)
    const text = await said()
    expect([statusOf(text), text]).toEqual([status, expect.stringContaining(words)])
  })
})
