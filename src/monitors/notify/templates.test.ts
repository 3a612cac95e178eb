import { describe, expect, it } from 'vitest'
import type { MonitorEvent } from '../../answers/webhooks.ts'
import type { Message } from './machine.ts'
import { consentMailOf, eventOf, mailOf, ntfyOf, slackOf, testEvent } from './templates.ts'

const AT = Date.UTC(2026, 0, 2, 3, 4, 5)
const ABOUT = { id: 'mon_1', name: '', kind: 'report', target: 'a.example', state: 'bad' } as const
const LAST = { time: '2026-01-02T03:04:05.000Z', status: 'fail', score: 55, listed: 1 }
const message = (over: Partial<Message> = {}): Message => ({
  ...{ type: 'monitor.changed', lines: ['SPF: record removed'], changes: [], count: 1, isCondition: false },
  ...over,
})
const event = (over: Partial<Message> = {}, last: MonitorEvent['data']['last'] = LAST): MonitorEvent =>
  eventOf(ABOUT, message(over), last, AT)
const LINKS = {
  publicUrl: 'https://w.example',
  unsubscribe: 'https://w.example/u/msg_1',
  unsubscribeTo: 'watch@w.example',
}
const change = (area: string, effect: 'worse' | 'better' = 'worse') => ({ id: `${area}.x`, area, effect, text: 'x' })
const LONG = `SPF: ${'x'.repeat(200)}`

describe('the title', () => {
  it.each<[string, Partial<Message>, string]>([
    ['is the line where there is one', {}, 'SPF: record removed'],
    ['is the area where that is long', { lines: [LONG], changes: [change('SPF')] }, 'SPF changed'],
    [
      'is up to three areas',
      { lines: ['a', 'b'], changes: ['SPF', 'MX', 'PTR'].map((one) => change(one)) },
      'SPF, MX, PTR changed',
    ],
    [
      'is short for more',
      { lines: ['a', 'b'], changes: ['SPF', 'MX', 'PTR', 'NS'].map((one) => change(one)) },
      'the mail setup changed',
    ],
    [
      'names no findings beside what changed',
      { lines: ['a', 'b'], changes: [change('SPF'), change('New findings'), change('Score')] },
      'SPF changed',
    ],
    [
      'is the condition first',
      { lines: ['on a blacklist: X', 'SPF: y'], changes: [change('SPF')], isCondition: true },
      'on a blacklist: X',
    ],
    [
      'is the condition without its details where they are long',
      { lines: [`on 9 blacklists: ${LONG}`], isCondition: true },
      'on 9 blacklists',
    ],
    [
      'is what could not be checked',
      { type: 'monitor.failing', lines: ['x'], isCondition: true },
      'the mail setup could not be checked 3 times in a row',
    ],
    [
      'is the domain that is gone',
      { lines: ['score', 'Domain: x'], changes: [change('Domain')], isCondition: true },
      'the domain no longer exists',
    ],
    [
      'is the domain that is back',
      { lines: ['Domain: x'], changes: [change('Domain', 'better')] },
      'the domain exists again',
    ],
  ])('%s', (_, over, title) => expect(event(over).data.title).toBe(`a.example: ${title}`))
  it('the count is said where things changed more than once', () => {
    expect(event({ count: 4 }).data.lines.at(-1)).toBe('There were 4 changes since the last message.')
    expect(event().data.lines).toHaveLength(1)
  })
})

describe('mail', () => {
  it('says what changed, how it is now, and how to end it', () => {
    const { to, subject, text, headers } = mailOf(event(), 'ann@b.example', LINKS)
    expect([to, subject]).toEqual(['ann@b.example', 'a.example: SPF: record removed'])
    expect(text).toBe(`SPF: record removed

Now: fail, score 55, on 1 list (report at 2026-01-02 03:04 UTC)
Monitor: mon_1
Unsubscribe from this monitor: https://w.example/u/msg_1
`)
    expect(headers).toEqual({
      'auto-submitted': 'auto-generated',
      'x-auto-response-suppress': 'All',
      'list-unsubscribe': '<https://w.example/u/msg_1>, <mailto:watch@w.example?subject=unsubscribe%20mon_1>',
      'list-unsubscribe-post': 'List-Unsubscribe=One-Click',
    })
  })
  it.each([
    [
      'plain HTTP has no one-click (RFC 8058 §3.1)',
      { publicUrl: 'http://w', unsubscribe: 'http://w/u' },
      '<http://w/u>',
    ],
    [
      'without a URL there is the address',
      { publicUrl: undefined, unsubscribeTo: 'w@w.example' },
      '<mailto:w@w.example?subject=unsubscribe%20mon_1>',
    ],
    ['without either there is none', { publicUrl: undefined }, undefined],
  ])('%s', (_, links, field) => {
    const { headers } = mailOf(event(), 'ann@b.example', links)
    expect([headers['list-unsubscribe'], headers['list-unsubscribe-post']]).toEqual([field, undefined])
  })
})

describe('Slack and ntfy', () => {
  const slack = (one: MonitorEvent): string => JSON.parse(slackOf(one, { url: 'https://hooks.slack.com/x' }).body).text
  it('say the title, the lines that it does not say, and how it is now', () => {
    expect(slack(event({ lines: ['one', 'two'] }))).toBe(
      '*a.example: the mail setup changed*\n• one\n• two\nNow: fail, score 55, on 1 list (report at 2026-01-02 03:04 UTC)',
    )
    expect(slack(event({}, null))).toBe('*a.example: SPF: record removed*')
  })
  it('no text from outside formats or links anything', () => {
    const text = slack(event({ lines: ['<!channel> <https://e.example|x> *b* _i_ `c` & \u202e\u001b[31m', 'two'] }))
    expect(text).toContain('• &lt;!channel&gt; &lt;https://e.example|x&gt;')
    expect(text).not.toMatch(/[\u202e\u001b]|<|\*b\*|_i_|`c`/)
  })
  it.each([
    ['https://ntfy.sh/topic', 'https://ntfy.sh/', 'topic'],
    ['https://n.example/base/topic', 'https://n.example/base', 'topic'],
    ['https://n.example/topic/', 'https://n.example/', 'topic'],
  ])('ntfy: %s', (url, posted, topic) => {
    const request = ntfyOf(event(), { url, token: 'tk' })
    expect([request.url, JSON.parse(request.body).topic, request.headers.authorization]).toEqual([
      posted,
      topic,
      'Bearer tk',
    ])
  })
  it.each([
    ['monitor.changed', 4, 'warning'],
    ['monitor.failing', 3, 'grey_question'],
    ['monitor.recovered', 3, 'white_check_mark'],
  ] as const)('the priority of %s', (type, priority, tag) =>
    expect(JSON.parse(ntfyOf(event({ type }), { url: 'https://n/t' }).body)).toMatchObject({ priority, tags: [tag] }),
  )
  it('are bounded, whatever the lines are', () => {
    const huge = event({ lines: Array.from({ length: 500 }, (_, n) => `${n} ${'€'.repeat(5_000)}`) })
    expect(slack(huge).length).toBeLessThanOrEqual(3_900)
    expect(JSON.parse(ntfyOf(huge, { url: 'https://n/t' }).body).message.length).toBeLessThanOrEqual(3_900)
    expect(mailOf(huge, 'a@b.example', { publicUrl: undefined }).text.length).toBeLessThan(26_000)
  })
  it('a test says that it is one, and raises no alarm', () => {
    const test = testEvent(ABOUT, AT)
    expect(slack(test)).toContain('this is a test')
    expect(JSON.parse(ntfyOf(test, { url: 'https://n/t' }).body)).toMatchObject({ priority: 3, tags: ['test_tube'] })
  })
})

describe('a mail has no text that a key can word', () => {
  it.each([
    ['the name of the monitor', { ...ABOUT, name: 'BUY PILLS' }],
    ['a quoted local part', { ...ABOUT, kind: 'verify', target: '"BUY PILLS at spam.example"@a.example' }],
  ] as const)('%s', (_, about) => {
    const mail = mailOf(eventOf(about, message({ lines: ['the mailbox exists'] }), LAST, AT), 'a@b.example', LINKS)
    expect(`${mail.subject}${mail.text}`).not.toContain('PILLS')
    expect(mail.subject).toContain('a.example')
  })

  it('the question for consent', () => {
    const question = {
      type: 'mail.consent',
      timestamp: '2026-01-02T03:04:05.000Z',
      data: { consent: 'con_1', about: 'a.example' },
    } as const
    const { subject, text, headers } = consentMailOf(question, 'a@b.example', LINKS)
    expect(subject).toBe('Do you want messages about a.example?')
    expect(text).toContain('https://w.example/v1/consent/con_1')
    expect(headers['list-unsubscribe']).toContain('https://w.example/u/msg_1')
  })
})
