import type { IncomingMessage, RequestListener, Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { boundedServer, CONNECTION_BOUNDS, type ConnectionBounds, inTurns, turns } from './connections.ts'

const REQUEST = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'
const servers: Server[] = []
const sockets: Socket[] = []
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

const listen = (
  listener: RequestListener,
  bounds: Partial<ConnectionBounds> = {},
  isUrgent?: (request: IncomingMessage) => boolean,
): Promise<number> =>
  new Promise((resolve) => {
    const server = boundedServer({}, listener, { ...CONNECTION_BOUNDS, ...bounds }, { ...(isUrgent && { isUrgent }) })
    servers.push(server)
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })

/**
 * A client that writes `bytes`: what it was told so far, and whether its connection was closed. One that is `deaf`
 * reads nothing.
 */
function client(port: number, bytes: string, isDeaf = false) {
  const seen = { text: '', isClosed: false, answers: () => seen.text.split('HTTP/1.1 200').length - 1 }
  const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
  sockets.push(socket)
  if (isDeaf) socket.pause()
  else socket.on('data', (chunk) => (seen.text += chunk))
  socket.on('error', () => {})
  socket.on('close', () => (seen.isClosed = true))
  return { seen, socket }
}

/** Answers are held until `letGo`. */
function held() {
  const waiting: (() => void)[] = []
  const listener: RequestListener = (_request, response) => void waiting.push(() => response.end('x'))
  return { listener, count: () => waiting.length, letGo: () => waiting.splice(0).forEach((answer) => void answer()) }
}

it('answers as many requests as may wait on one connection', async () => {
  const port = await listen((_request, response) => void setImmediate(() => response.end('x')))
  const { seen } = client(port, REQUEST.repeat(CONNECTION_BOUNDS.maxWaiting))
  await expect.poll(seen.answers).toBe(CONNECTION_BOUNDS.maxWaiting)
  expect(seen.isClosed).toBe(false)
})

it('closes a connection on which one more waits, after the answers of those that may', async () => {
  const port = await listen((_request, response) => void setImmediate(() => response.end('x')))
  const { seen } = client(port, REQUEST.repeat(CONNECTION_BOUNDS.maxWaiting + 1))
  await expect.poll(() => seen.isClosed).toBe(true)
  expect(seen.answers()).toBe(CONNECTION_BOUNDS.maxWaiting)
})

it('closes it also when these answers do not come', async () => {
  const { listener, count } = held()
  const { seen } = client(await listen(listener), REQUEST.repeat(CONNECTION_BOUNDS.maxWaiting + 1))
  await expect.poll(() => seen.isClosed, { timeout: 5_000 }).toBe(true)
  expect(count()).toBe(CONNECTION_BOUNDS.maxAtOnce)
})

it('takes any number of requests one after the other', async () => {
  const port = await listen((_request, response) => void response.end('x'))
  const { seen, socket } = client(port, REQUEST)
  for (let i = 1; i < 300; i++) {
    await expect.poll(seen.answers, { interval: 1 }).toBe(i)
    socket.write(REQUEST)
  }
  await expect.poll(seen.answers).toBe(300)
  expect(seen.isClosed).toBe(false)
})

it('works on no more of a connection at once than it may, and on the others after', async () => {
  const { listener, count, letGo } = held()
  const { seen } = client(await listen(listener), REQUEST.repeat(20))
  await expect.poll(count).toBe(CONNECTION_BOUNDS.maxAtOnce)
  while (seen.answers() < 20) {
    expect(count()).toBeLessThanOrEqual(CONNECTION_BOUNDS.maxAtOnce)
    letGo()
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
})

it('begins no more requests in one turn of the event loop than it may, health first', async () => {
  const begun: string[] = []
  let [inTurn, most] = [0, 0]
  const countTurn = (): void => {
    inTurn = 0
    if (begun.length < 100) setImmediate(countTurn)
  }
  const listener: RequestListener = ({ url }, response) => {
    most = Math.max(most, ++inTurn)
    begun.push(url!)
    response.end('x')
  }
  const port = await listen(listener, { maxInTurn: 10 }, ({ url }) => url === '/health')
  const clients = Array.from({ length: 100 }, () => client(port, ''))
  await expect.poll(() => clients.every(({ socket }) => !socket.connecting)).toBe(true)
  countTurn()
  await new Promise((resolve) => setTimeout(resolve, 50))
  for (const { socket } of clients.slice(0, 99)) socket.write(REQUEST)
  clients[99]!.socket.write(REQUEST.replace('/', '/health'))
  await expect.poll(() => begun.length).toBe(100)
  expect(most).toBe(10)
  expect(begun.indexOf('/health')).toBeLessThan(50)
})

it('hands on no request of a client that is gone, whose address is not known any more', async () => {
  const addresses: (string | undefined)[] = []
  const port = await listen((request, response) => {
    addresses.push(request.socket.remoteAddress)
    response.end('x')
  })
  const gone = client(port, '')
  await expect.poll(() => gone.socket.connecting).toBe(false)
  gone.socket.write(REQUEST)
  gone.socket.resetAndDestroy() // the bytes are there to be read, and the connection is not
  const { seen } = client(port, REQUEST)
  await expect.poll(seen.answers).toBe(1)
  expect(addresses).toEqual(['127.0.0.1'])
})

it.each<[string, (socket: Socket) => unknown]>([
  ['end', (socket) => socket.end()],
  ['are reset', (socket) => socket.resetAndDestroy()],
])('closes no more connections in one turn than it may when all of them %s', async (_, leave) => {
  const port = await listen(() => {}, { maxInTurn: 10 })
  let [inTurn, most, closed] = [0, 0, 0]
  const countTurn = (): void => {
    inTurn = 0
    if (closed < 100) setImmediate(countTurn)
  }
  let opened = 0
  servers[0]!.on('connection', (socket) => {
    opened++
    socket.once('close', () => {
      closed++
      most = Math.max(most, ++inTurn)
    })
  })
  const clients = Array.from({ length: 100 }, () => client(port, ''))
  await expect.poll(() => opened).toBe(100)
  await expect.poll(() => clients.every(({ socket }) => !socket.connecting)).toBe(true)
  countTurn()
  for (const { socket } of clients) leave(socket)
  await expect.poll(() => closed).toBe(100)
  expect(most).toBeLessThanOrEqual(20) // sockets that are closed in one turn tell so at its end, or at that of the next
})

it('closes the connection on which the most wait when too many wait in all', async () => {
  const { listener, count } = held()
  const port = await listen(listener, { maxWaitingInAll: 10 })
  const first = client(port, REQUEST.repeat(3))
  await expect.poll(count).toBe(3)
  const second = client(port, REQUEST.repeat(8))
  await expect.poll(() => second.seen.isClosed).toBe(true)
  const third = client(port, REQUEST) // the places of the second are free again
  await expect.poll(count).toBeGreaterThan(3)
  expect([first.seen.isClosed, third.seen.isClosed]).toEqual([false, false])
})

it('closes one connection more than may be open', async () => {
  const port = await listen((_request, response) => void response.end('x'), { maxConnections: 2 })
  const [one, two] = [client(port, REQUEST), client(port, REQUEST)]
  await expect.poll(() => one.seen.answers() + two.seen.answers()).toBe(2)
  const three = client(port, REQUEST)
  await expect.poll(() => three.seen.isClosed).toBe(true)
  expect(three.seen.answers()).toBe(0)
  await expect.poll(() => one.seen.isClosed && two.seen.isClosed).toBe(true) // they had no request: there is room again
  const four = client(port, REQUEST)
  await expect.poll(four.seen.answers).toBe(1)
})

const LARGE = Buffer.alloc(16 * 1024 * 1024)

it('closes a client that reads nothing of its answer, and not one that waits for its own', async () => {
  const { listener } = held()
  const port = await listen(
    (request, response) => (request.url === '/' ? void response.end(LARGE) : listener(request, response)),
    { stalledMs: 0 },
  )
  const deaf = client(port, REQUEST, true)
  const patient = client(port, REQUEST.replace('/', '/slow'))
  await expect.poll(() => servers[0]!.listenerCount('close')).toBeGreaterThan(0)
  const open = (): Promise<number> =>
    new Promise((resolve) => servers[0]!.getConnections((_error, count) => resolve(count)))
  await expect.poll(open).toBe(2)
  await expect.poll(open, { timeout: 10_000 }).toBe(1)
  expect(patient.seen.isClosed).toBe(false)
  deaf.socket.resume()
  await expect.poll(() => deaf.seen.isClosed).toBe(true)
})

it('closes those with the most unread answers when there is too much of it', async () => {
  const sizes: Record<string, number> = { '/a': 12, '/b': 16 }
  const port = await listen(
    (request, response) => void response.end(LARGE.subarray(0, sizes[request.url!]! * 1024 * 1024)),
    { maxUnreadBytes: 14 * 1024 * 1024, stalledMs: 60_000 },
  )
  const small = client(port, REQUEST.replace('/', '/a'), true)
  const large = client(port, REQUEST.replace('/', '/b'), true)
  const open = (): Promise<number> =>
    new Promise((resolve) => servers[0]!.getConnections((_error, count) => resolve(count)))
  await expect.poll(open).toBe(2)
  await expect.poll(open, { timeout: 10_000 }).toBe(1)
  large.socket.resume()
  await expect.poll(() => large.seen.isClosed).toBe(true)
  expect(small.seen.isClosed).toBe(false)
})

it('the bounds are those of contributing/threat-model.md', () =>
  expect(CONNECTION_BOUNDS).toEqual({
    ...{ maxConnections: 10_000, maxWaiting: 100, maxWaitingInAll: 10_000, maxAtOnce: 8, maxInTurn: 32 },
    ...{ maxUnreadBytes: 64 * 1024 * 1024, stalledMs: 30_000 },
  }))

it('lets one piece begin a turn of the event loop, in order, with others in between', async () => {
  const turn = turns()
  const seen: string[] = []
  const work = ['a', 'b', 'c'].map((name) => turn().then(() => seen.push(name)))
  setImmediate(() => seen.push('io'))
  await Promise.all(work)
  expect(seen.filter((name) => name !== 'io')).toEqual(['a', 'b', 'c'])
  expect(seen.at(-1)).toBe('c')
  expect(seen.indexOf('io')).toBeLessThan(seen.indexOf('c'))
})

it('begins at once after a pause', async () => {
  const turn = turns()
  await turn()
  await new Promise((resolve) => setTimeout(resolve, 5))
  await turn()
})

describe('so many pieces in one turn', () => {
  /** What was done, by turn. */
  async function turnsOf(pieces: readonly string[], perTurn: number): Promise<readonly string[]> {
    const done: string[] = ['']
    const doIt = inTurns((piece: string) => void (done[done.length - 1] += piece), perTurn)
    for (const piece of pieces) doIt(piece, piece === piece.toUpperCase())
    while (done.join('').length < pieces.length) {
      done.push('')
      await new Promise((resolve) => setImmediate(resolve))
    }
    return done
  }

  it.each<[string, string, number, readonly string[]]>([
    ['as many as may be done are done at once', 'abc', 3, ['abc']],
    ['one more waits for the next turn', 'abcd', 3, ['abc', 'd']],
    ['in order', 'abcdefg', 3, ['abc', 'def', 'g']],
    ['urgent ones first', 'abcdeFgH', 2, ['ab', 'FH', 'cd', 'eg']],
  ])('%s', async (_, pieces, perTurn, turn) => expect(await turnsOf([...pieces], perTurn)).toEqual(turn))

  it('what comes later in a turn in which others were done waits when the turn is full', async () => {
    const done: string[] = []
    const doIt = inTurns((piece: string) => void done.push(piece), 2)
    for (const piece of 'abcd') doIt(piece)
    await new Promise((resolve) => setImmediate(resolve))
    doIt('e')
    expect(done.join('')).toBe('abcd')
    await new Promise((resolve) => setImmediate(resolve))
    expect(done.join('')).toBe('abcde')
    await new Promise((resolve) => setImmediate(resolve))
    for (const piece of 'fgh') doIt(piece)
    expect(done.join('')).toBe('abcdefg')
  })
})
