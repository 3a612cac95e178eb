import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll } from 'vitest'
import { AppError } from '../../src/base/errors.ts'
import { type Database, openDatabase } from '../../src/store/postgres/connect.ts'
import { embeddedConnection, startEmbedded } from '../../src/store/postgres/embedded.ts'
import type { Connection } from '../../src/store/postgres/embedded-process.ts'
import { DATABASE_FOLDER } from '../database-server.ts'

const log = { info: () => {}, warn: () => {} }
const opened: Database[] = []
afterAll(async () => {
  await Promise.all(opened.splice(0).map((database) => database.close()))
})

/** The URL of a new, empty database on the shared server, which the first caller starts. */
export async function labDatabaseUrl(): Promise<string> {
  const connection = await sharedServer()
  const client = new pg.Client(connection)
  await client.connect()
  const name = `lab_${randomUUID().replaceAll('-', '')}`
  await client.query(`CREATE DATABASE ${name}`)
  await client.end()
  const { user, password, host } = connection
  return `postgres://${user}:${password}@/${name}?host=${encodeURIComponent(host)}`
}

/** A new database with our schema, closed when the tests of this file have ended. */
export async function labDatabase(url?: string): Promise<Database> {
  const settings = { url: url ?? (await labDatabaseUrl()), dataDir: '', dbUser: 'nobody', maxConnections: 4, log }
  const database = await openDatabase(settings, AbortSignal.timeout(30_000))
  opened.push(database)
  return database
}

/** The folder of another PostgreSQL, to run the tests on the oldest one that is supported. */
const OTHER_PROGRAMS = process.env.MAILSONDE_TEST_POSTGRES_BIN

let shared: Promise<Connection> | undefined
function sharedServer(): Promise<Connection> {
  shared ??= startShared()
  return shared
}

/** Starts the server, or uses the one that another test file has started: its owner is whichever file came first. */
async function startShared(): Promise<Connection> {
  const dataDir = process.env[DATABASE_FOLDER]
  if (dataDir === undefined) throw new Error(`${DATABASE_FOLDER} is not set: run the tests by vitest.config.ts`)
  try {
    return (
      await startEmbedded({ dataDir, user: 'nobody', where: { bin: OTHER_PROGRAMS }, log }, AbortSignal.timeout(60_000))
    ).connection
  } catch (error) {
    if (!(error instanceof AppError) || !/another mailsonde process/.test(error.message)) throw error
    return embeddedConnection(dataDir, 'nobody')
  }
}
