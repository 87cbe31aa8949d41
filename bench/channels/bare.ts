import { createHmac, randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'
import type { Account, Simulator } from '../../test/support/channel-simulator/peer.ts'
import type { Asked } from '../../test/support/channel-simulator/store.ts'

const post = (port: number, { name, secret }: Account, agent: Agent, body: string): Promise<number> => {
  const at = Math.floor(Date.now() / 1_000)
  const signature = createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')
  return new Promise((resolve, reject) => {
    const sent = request({
      host: '127.0.0.1',
      port,
      path: '/ari',
      method: 'POST',
      agent,
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        'idempotency-key': randomUUID(),
        'x-pousada-property': name,
        'x-pousada-signature': `t=${at},v1=${signature}`,
      },
    })
    sent.on('error', reject)
    sent.on('response', (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
    })
    sent.end(body)
  })
}

/** Posts the bodies plainly, one after the other over one kept connection. Answers the milliseconds of each. */
export const postAll = async (simulator: Simulator, pushes: readonly Asked[]): Promise<number[]> => {
  const account = await simulator.account(`bare-${randomUUID()}`)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const times: number[] = []
  for (const { kind, ranges } of pushes) {
    const from = performance.now()
    const status = await post(
      simulator.port,
      account,
      agent,
      JSON.stringify({ propertyId: account.name, kind, ranges }),
    )
    if (status !== 200) throw new Error(`a plain post is answered with ${status}`)
    times.push(performance.now() - from)
  }
  agent.destroy()
  return times
}
