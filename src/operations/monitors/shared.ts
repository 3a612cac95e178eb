import { z } from 'zod'
import type { MonitorAnswer } from '../../answers/monitors.ts'
import { type Parsed, parsed, problem } from '../../base/parsed.ts'
import { valueProblem } from '../../base/value-problems.ts'
import type { Ctx } from '../../world.ts'
import { refusePrivateUrl } from '../ask-peer.ts'
import type { Deps } from '../deps.ts'
import { textParam } from '../params.ts'
import { monitorInputError } from '../problems.ts'

export const DEADLINE_MS = 20_000

const idOf =
  (prefix: string, kind: 'monitor' | 'webhook' | 'delivery' | 'question') =>
  (text: string): Parsed<string> =>
    new RegExp(`^${prefix}_[\\w-]{22}$`).test(text) ? parsed(text) : problem(valueProblem('id', { text, kind }))

export const exampleMonitor = { id: 'mon_AAAAAAAAAAAAAAAAAAAAAA' }
export const monitorIdParam = textParam<string>('not_found', idOf('mon', 'monitor'), {
  description: 'id of the monitor',
  example: exampleMonitor.id,
})
export const exampleWebhook = { id: 'wh_AAAAAAAAAAAAAAAAAAAAAA' }
export const webhookIdParam = textParam<string>('not_found', idOf('wh', 'webhook'), {
  description: 'id of the webhook',
  example: exampleWebhook.id,
})
export const deliveryIdParam = textParam<string>('not_found', idOf('msg', 'delivery'), {
  description: 'id of the delivery',
  example: 'msg_AAAAAAAAAAAAAAAAAAAAAA',
})

export const consentIdParam = textParam<string>('invalid_parameter', idOf('con', 'question'), {
  description: 'id in the link of the question for consent',
  example: 'con_AAAAAAAAAAAAAAAAAAAAAA',
})

/**
 * Maximum number of characters of a recipient's URL, also as it is stored: there a character beyond ASCII has up to 12.
 */
const MAX_URL = 2_000
export const receiverUrl = z.string().max(MAX_URL)

/**
 * Reads the URL of a receiver: HTTPS to public addresses, without a login; networks that the operator allowed are
 * accepted too, with plain HTTP. The address is checked again at every call. Throws AppError `invalid_parameter`.
 */
export async function readReceiver(
  ctx: Ctx,
  deps: Pick<Deps, 'mayCall'>,
  text: string,
  parameter: string,
): Promise<string> {
  const url = URL.parse(text.trim())
  const at = { parameter, at: parameter }
  if (!url || !/^https?:$/.test(url.protocol)) throw monitorInputError('url', undefined, at)
  if (url.username !== '' || url.password !== '') throw monitorInputError('login', undefined, at)
  url.hash = ''
  if (url.href.length > MAX_URL) throw monitorInputError('url_length', { max: MAX_URL }, at)
  await refusePrivateUrl(ctx, deps, url.origin, parameter)
  return url.href
}

export const monitorExample: MonitorAnswer = {
  ...exampleMonitor,
  name: 'our domain',
  kind: 'report',
  target: 'example.org',
  every: '24h',
  options: {},
  notify: [{ type: 'webhook', url: 'https://hooks.example.org/mail', id: exampleWebhook.id }],
  when: ['changed', 'listed'],
  quiet_hours: null,
  public: false,
  enabled: true,
  state: 'ok',
  last: { time: '2026-01-02T03:04:05.000Z', status: 'pass', score: 97, listed: 0 },
  failures: 0,
  created_at: '2026-01-01T03:04:05.000Z',
  next_run_at: '2026-01-03T03:04:05.000Z',
}
