import { createInterface } from 'node:readline'
import { startMailbox } from '../../scripts/services/mailbox.ts'
import { startGateway } from './gateway.ts'
import type { GatewayMood } from './gateway.ts'
import { startReceiver } from './receiver.ts'

/**
 * The world outside the service in a process of its own: a gateway, a mail server and a receiver of webhooks, each with its log. Lines on standard input change
 * how the gateway behaves; the end of it ends the process.
 */
const [, , gatewayLog = '', mailLog = '', hookLog = '', secondMs = '1000', secret = '', ...apis] = process.argv
const gateway = await startGateway({ secondMs: Number(secondMs), logFile: gatewayLog, apis: () => apis, secret })
const mailbox = await startMailbox({ smtpPort: 0, httpPort: 0, file: mailLog })
const receiver = await startReceiver(hookLog)
process.stdout.write(
  `${JSON.stringify({ gatewayPort: gateway.port, smtpPort: mailbox.smtpPort, hookPort: receiver.port })}\n`,
)

for await (const line of createInterface({ input: process.stdin })) {
  gateway.behave(line as GatewayMood)
  process.stdout.write(`${line}\n`)
}
receiver.stop()
await Promise.all([gateway.stop(), mailbox.stop()])
process.exit(0)
