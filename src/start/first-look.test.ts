import { expect, it } from 'vitest'
import type { DoctorAnswer } from '../answers/pool.ts'
import { doctor } from '../operations/doctor.ts'
import { linesOf, lookOf } from './first-look.ts'

const SEEN = { ...(doctor.example.output as DoctorAnswer), repairs: [] } satisfies DoctorAnswer
const service = (keys: number) =>
  ({ access: { keys: () => Array(keys).fill({}) }, outside: { servers: [{ ip: '127.0.0.1', port: 53 }] } }) as never
const URL = 'http://127.0.0.1:8080'

it('says in six lines what the machine can do', () => {
  expect(linesOf(lookOf(service(0), URL, SEEN)).split('\n')).toEqual([
    'Address   http://127.0.0.1:8080',
    'API key   none needed',
    'Resolver  127.0.0.1:53 answers; 27 of 29 blacklists answer it',
    'Port 25   open',
    'Database  PostgreSQL 18, started when it is first needed',
    'Next      open http://127.0.0.1:8080',
  ])
})

it.each<[string, Partial<DoctorAnswer>, object]>([
  [
    'no resolver',
    { resolver: { answers: false, reason: 'it does not answer', public: [] } },
    { resolver: '127.0.0.1:53: it does not answer' },
  ],
  ['port 25', { port_25: false }, { port_25: 'blocked: verification ends as unreachable' }],
  ['what is not known of port 25', { port_25: null }, { port_25: 'not known' }],
  [
    'no database',
    { database: { kind: 'private', ready: false, detail: 'this machine has no PostgreSQL' } },
    { database: 'this machine has no PostgreSQL' },
  ],
  [
    'what to do first',
    { repairs: ['Run your own resolver.', 'x'] },
    { next: 'mailsonde doctor: Run your own resolver.' },
  ],
])('says what is wanting: %s', (_, seen, line) =>
  expect(lookOf(service(2), URL, { ...SEEN, ...seen })).toMatchObject({
    key: '2 keys in force: mailsonde keys list',
    ...line,
  }),
)
