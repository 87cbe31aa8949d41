import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { settings } from '../../config/env.ts'
import { seedDemo } from '../../db/demo/seed.ts'
import { inPlatform } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { sequenceEvents } from '../../jobs/webhooks.ts'
import { startMailbox } from '../../scripts/services/mailbox.ts'
import type { Mailbox } from '../../scripts/services/mailbox.ts'
import { closeMail } from '../../workers/providers/smtp.ts'
import { useSimulator } from '../support/channel-simulator/peer.ts'
import { forgetLimits, useWorld } from '../support/world.ts'

const folder = new URL('../../docs/integrators/', import.meta.url)
const run = promisify(execFile)

/** A loop that waits for something, and stops the script where its turns run out before. */
const waited = (line: string): string => {
  if (!/^for .* && break;.*done$/.test(line)) return line
  const loop = line.replace('&& break;', '&& { seen=1; break; };')
  return `seen=; ${loop}; [ -n "$seen" ] || { echo "waited in vain:" ${JSON.stringify(line).replaceAll('$', '\\$')} >&2; exit 1; }`
}

/** The blocks of a page as one script that stops at the first thing that is not as the page says. */
const scriptOf = (page: string): string => {
  const blocks = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map((match) => match[1] ?? '')
  const lines = blocks.join('\n').split('\n')
  const checked = lines.map((line) => {
    const [, command, expected] = /^(status .*?)\s+# (\d{3})$/.exec(line) ?? []
    if (command === undefined) return waited(line)
    return `got=$(${command}); [ "$got" = ${expected} ] || { echo "$got in place of ${expected}:" ${JSON.stringify(command).replaceAll('$', '\\$')} >&2; exit 1; }`
  })
  return ['set -euo pipefail', ...checked].join('\n')
}

describe('a page for integrators', function () {
  this.timeout(240_000)
  const world = useWorld()
  const channel = useSimulator()
  const smtpBefore = settings.smtpUrl
  let mailbox: Mailbox
  before(async () => {
    mailbox = await startMailbox({ smtpPort: 0, httpPort: 0, file: null })
    // A house that is made while there is a mail server sends by it.
    settings.allowPrivateAddresses = true
    settings.smtpUrl = `smtp://127.0.0.1:${mailbox.smtpPort}`
    await seedDemo()
  })
  after(async () => {
    settings.smtpUrl = smtpBefore
    settings.allowPrivateAddresses = false
    closeMail()
    await mailbox.stop()
  })
  /** Runs the workers of the demo, as they run while a reader follows the page, until the work is over. */
  const whileWorking = async <T>(work: Promise<T>): Promise<T> => {
    let isOver = false
    const working = (async () => {
      while (!isOver) {
        await inPlatform((trx) => enqueue(trx, sequenceEvents, {}, { uniqueKey: 'clock' }))
        await world.drain()
        await wait(50)
      }
    })()
    try {
      return await work
    } finally {
      isOver = true
      await working
    }
  }

  const pages = readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((file) => ({ file, page: readFileSync(new URL(file, folder), 'utf8') }))
    .filter(({ page }) => /^```sh$/m.test(page))

  it('are there for whoever signs in, and for portals', () => {
    expect(pages.map(({ file }) => file)).to.include.members([
      'authentication.md',
      'channels.md',
      'front-desk.md',
      'portal.md',
      'webhooks.md',
    ])
  })

  it('has programs beside it that hold over types made from the document', async () => {
    const cwd = new URL('clients/', folder)
    const base = { ...process.env, BASE: world.baseUrl }
    await run('npm', ['run', '--silent', 'types'], { cwd })
    await run('npm', ['run', '--silent', 'check'], { cwd })
    const printed = async (program: string) => {
      const { stdout } = await whileWorking(
        run(process.execPath, ['--import', 'tsx', program], { cwd, env: base, timeout: 60_000 }),
      )
      return stdout.trim().split('\n')
    }
    const [held, ...booked] = await printed('booking.ts')
    expect(held).to.match(/^held [A-Z0-9-]+ \d+ BRL$/)
    expect(booked).to.deep.equal(['confirmed', '1 room'])
    const [room, ...stayed] = await printed('front-desk.ts')
    expect(room).to.match(/^checked_in .+/)
    expect(stayed).to.deep.equal(['charged 1200', 'checked_out'])
  })

  // A reader takes longer for a page than these for all of them.
  beforeEach(() => forgetLimits(world))

  for (const { file, page } of pages)
    it(`${file} says what the demo does, block by block`, async () => {
      // A code of an authenticator is for its half minute.
      const left = 30_000 - (Date.now() % 30_000)
      if (page.includes('totp') && left < 10_000) await new Promise((resolve) => setTimeout(resolve, left + 50))
      const script = run('bash', ['-c', scriptOf(page)], {
        env: {
          ...process.env,
          BASE: world.baseUrl,
          MAIL: `http://127.0.0.1:${mailbox.httpPort}`,
          CHANNEL: `http://127.0.0.1:${channel.port}`,
        },
        timeout: 150_000,
      })
      const { stdout } = await whileWorking(script).catch((error: Error & { stdout?: string; stderr?: string }) => {
        throw new Error(`${file}: ${error.stderr ?? ''}\nafter: ${error.stdout ?? ''}`)
      })
      // Every object from which a value was picked held that value.
      expect(stdout.split('\n')).to.not.include('undefined')
    })
})
