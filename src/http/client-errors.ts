import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { AppError } from '../base/errors.ts'
import { problemOf } from './problem.ts'
import { requestError } from './problems.ts'

export type ClientError = { readonly error: NodeJS.ErrnoException; readonly socket: Socket }

/**
 * Problems for what the HTTP parser refuses before there is a request: headers over 16 KiB, a request that is not
 * received in time, bytes that are not HTTP.
 */
export function answerClientError({ error, socket }: ClientError): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const problem = problemOf(asAppError(error), randomUUID())
  const body = JSON.stringify(problem)
  const head = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${problem.instance}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroySoon())
}

function asAppError({ code }: NodeJS.ErrnoException): AppError {
  if (code === 'HPE_HEADER_OVERFLOW') return requestError('header_too_large')
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return requestError('late')
  return requestError('no_http')
}
