import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import helmet from 'helmet'

/**
 * The security header fields of every answer, as helmet sets them. They depend on no request and are created once:
 * creating the policy for each answer costs as much as all other work on the answer of `GET /v1/health`. A route sends
 * its own field in place of one of these.
 */
export function securityHeaders(): Readonly<Record<string, string>> {
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  const middleware = helmet({
    contentSecurityPolicy: { directives: { 'upgrade-insecure-requests': null } },
    hsts: false,
  })
  middleware(response.req, response, (error) => {
    if (error) throw error
  })
  return Object.fromEntries(Object.entries(response.getHeaders()).map(([name, value]) => [name, String(value)]))
}
