import { createInterface } from 'node:readline'
import { startMailbox } from '../../scripts/services/mailbox.ts'
import { startCarrier } from './carrier.ts'
import { startGateway } from './gateway.ts'
import type { GatewayMood } from './gateway.ts'
import { startReceiver } from './receiver.ts'

/**
 * The world outside the service in a process of its own: a gateway, a mail server, a carrier of texts and a receiver of webhooks, each with its log. Lines on
 * standard input change how the gateway behaves; the end of it ends the process.
 */
const [, , gatewayLog = '', mailLog = '', textLog = '', hookLog = '', secondMs = '1000', secret = '', ...apis] =
  process.argv
const gateway = await startGateway({ secondMs: Number(secondMs), logFile: gatewayLog, apis: () => apis, secret })
const mailbox = await startMailbox({ smtpPort: 0, httpPort: 0, file: mailLog })
const carrier = await startCarrier(textLog, secret, () => apis)
const receiver = await startReceiver(hookLog)
process.stdout.write(
  `${JSON.stringify({
    gatewayPort: gateway.port,
    smtpPort: mailbox.smtpPort,
    textPort: Number(new URL(carrier.baseUrl).port),
    hookPort: receiver.port,
  })}\n`,
)

for await (const line of createInterface({ input: process.stdin })) {
  gateway.behave(line as GatewayMood)
  process.stdout.write(`${line}\n`)
}
receiver.stop()
await Promise.all([gateway.stop(), mailbox.stop(), carrier.stop()])
process.exit(0)
