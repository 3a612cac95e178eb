import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import type { Figures, Job } from './smtp-worker.ts'

/**
 * The client to compare with: what Node itself needs for the commands of a verification. A socket and callbacks; no
 * deadline, no limit, no check of what the server says beyond its code, and nothing that is answered.
 */
const job = JSON.parse(process.argv[2]!) as Job
const answers: Record<string, number> = {}
let next = 0
let open = 0
let count = 0

/** A session: with `reuse` it asks until there is nothing left, otherwise once. */
function session(): void {
  const socket = connect(job.port, job.address)
  socket.setEncoding('latin1')
  socket.setNoDelay(true)
  let rest = ''
  let expected = 0
  open++
  socket.on('data', (text: string) => {
    const lines = (rest + text).split('\r\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line[3] !== '-') expected = onReply(socket, line, expected)
  })
  socket.on('close', () => {
    open--
    if (next < count) start()
    else if (open === 0) end()
  })
}

/** Answers a reply; `expected` replies of the last batch were missing: 0 at the banner, -1 after EHLO was sent. */
function onReply(socket: Socket, line: string, expected: number): number {
  if (expected === 0) {
    socket.write('EHLO bench.example\r\n')
    return -1
  }
  if (expected === -1) {
    socket.write(`MAIL FROM:<>\r\nRCPT TO:<user${next++}@sink.example>\r\n`)
    return 2
  }
  if (expected > 1) return expected - 1
  const code = line.slice(0, 3)
  answers[code] = (answers[code] ?? 0) + 1
  if (job.reuse && next < count) {
    socket.write(`RSET\r\nMAIL FROM:<>\r\nRCPT TO:<user${next++}@sink.example>\r\n`)
    return 3
  }
  socket.end('QUIT\r\n')
  return Number.POSITIVE_INFINITY // nothing is asked after this
}

let begun = 0
let started = 0
let cpu = process.cpuUsage()

/** Opens a connection unless all that are needed were opened. */
function start(): void {
  if (started++ < count) session()
}

function begin(more: number): void {
  count = more
  next = open = started = 0
  cpu = process.cpuUsage()
  begun = performance.now()
  for (let n = 0; n < Math.min(job.width, count); n++) {
    // A server accepts only this many new connections at once: its backlog is 4,096.
    setTimeout(start, Math.floor(n / 500) * 100)
  }
}

function end(): void {
  if (isWarmUp) {
    isWarmUp = false
    for (const code of Object.keys(answers)) delete answers[code]
    begin(job.count)
    return
  }
  const { user, system } = process.cpuUsage(cpu)
  process.send?.({
    answers,
    wallSeconds: (performance.now() - begun) / 1_000,
    userSeconds: user / 1e6,
    systemSeconds: system / 1e6,
    highestMiB: Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1_024,
  } satisfies Figures)
}

let isWarmUp = (job.warmUp ?? 0) > 1
begin(isWarmUp ? job.warmUp! : job.count)
