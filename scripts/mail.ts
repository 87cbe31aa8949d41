import { join } from 'node:path'
import { log } from '../config/log.ts'
import { startMailbox } from './services/mailbox.ts'

// The mail server of an embedded start: nothing leaves the machine, and what guests would get can be read in a browser.
const portOf = (name: string) => {
  const port = Number(process.env[name] ?? '0')
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error(`${name}: must be a port`)
  return port
}

const directory = process.env.POUSADA_DATA_DIR
const mailbox = await startMailbox({
  smtpPort: portOf('MAIL_SMTP_PORT'),
  httpPort: portOf('MAIL_HTTP_PORT'),
  file: directory ? join(directory, 'mail.jsonl') : null,
})
log.info({ process: 'mail', smtpPort: mailbox.smtpPort, httpPort: mailbox.httpPort }, 'started')

const end = () => {
  mailbox.stop().then(
    () => process.exit(0),
    () => process.exit(1),
  )
}
process.once('SIGTERM', end)
process.once('SIGINT', end)
