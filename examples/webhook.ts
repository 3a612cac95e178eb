import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

/** How old a message may be, seconds: an old one may be a copy that somebody else sends. */
const TOLERANCE = 300

/** Whether a message comes from the service and is recent. `secret`: `whsec_…`; `body`: exactly as received. */
export function isGenuine(secret: string, headers: Record<string, unknown>, body: Buffer, now = Date.now()): boolean {
  const id = String(headers['webhook-id'])
  const time = String(headers['webhook-timestamp'])
  if (!(Math.abs(now / 1_000 - Number(time)) <= TOLERANCE)) return false
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const expected = createHmac('sha256', key).update(`${id}.${time}.`).update(body).digest()
  // While a secret is replaced there are two signatures.
  return String(headers['webhook-signature'])
    .split(' ')
    .map((one) => Buffer.from(one.replace(/^v1,/, ''), 'base64'))
    .some((given) => given.length === expected.length && timingSafeEqual(given, expected))
}

const secret = process.env.WEBHOOK_SECRET
if (secret !== undefined)
  createServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece)
    const body = Buffer.concat(pieces)
    if (!isGenuine(secret, request.headers, body)) return void response.writeHead(400).end()
    response.writeHead(204).end() // answer within 15 seconds, and do the work afterwards
    const { type, data } = JSON.parse(body.toString())
    console.log(type, data.title)
  }).listen(8_090)
