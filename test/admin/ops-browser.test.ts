import { expect } from 'chai'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { closeDashboard } from '../../api/admin/dashboard.ts'
import { sql } from '../../db/lib/connection.ts'
import { browserOnPath, openBrowser } from '../support/browser.ts'
import { useWorld } from '../support/world.ts'
import { fill, makeOperator, operator } from './ops-support.ts'

const base = '/superuser/ops'
const group = '/dead/group?queue=messages&kind=messages.trigger&error=ECONNREFUSED'
const executable = browserOnPath()
/** A folder for pictures of every page, for people to look at. */
const pictures = process.env.OPS_SHOTS ?? ''

const inBrowser = executable === null ? describe.skip : describe

inBrowser(
  `the operations pages in a browser${executable === null ? ' (none is on the PATH: Chromium is wanted)' : ''}`,
  () => {
    const world = useWorld()
    let browser: Browser
    let context: BrowserContext
    let page: Page
    let given: Awaited<ReturnType<typeof fill>>
    const complaints: string[] = []

    before(async function () {
      this.timeout(120_000)
      await makeOperator()
      given = await fill(world)
      browser = await openBrowser(executable ?? '')
      context = await browser.newContext({ baseURL: world.baseUrl, viewport: { width: 1280, height: 900 } })
      page = await context.newPage()
      page.setDefaultTimeout(10_000)
      page.on('pageerror', (error) => complaints.push(String(error)))
      page.on('console', (message) => {
        if (message.type() === 'error') complaints.push(message.text())
      })
      page.on('dialog', (dialog) => {
        complaints.push(`a dialog: ${dialog.message()}`)
        void dialog.dismiss()
      })
    })
    after(async () => {
      await browser?.close()
      await closeDashboard()
    })

    /** Evaluates an expression in the page. */
    const inPage = <T>(expression: string) => page.evaluate<T>(expression)

    const picture = async (name: string) => {
      if (pictures === '') return
      mkdirSync(pictures, { recursive: true })
      await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true })
    }
    const places = () => [
      ['overview', ''],
      ['queues', '/queues'],
      ['queue', '/queues/messages'],
      ['tenants', '/tenants'],
      ['dead', '/dead'],
      ['dead-group', group],
      ['schedules', '/schedules'],
      ['providers', '/providers'],
      ['workers', '/workers'],
      ['jobs', '/jobs'],
      ['acts', '/acts'],
      ['database', '/database'],
      ['job', `/jobs/${given.jobId}`],
    ]

    it('are entered by the sign-in form, and link to the board and back', async () => {
      await page.goto(base)
      await picture('sign-in')
      complaints.length = 0
      await page.getByLabel('E-mail').fill(operator.email)
      await page.getByLabel('Password').fill(operator.password)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
      await page.getByRole('link', { name: 'Bull Board' }).click()
      await page.waitForURL('**/superuser/dashboard**')
      await page.goto(base)
      complaints.length = 0
    })

    it('are whole: style, headings, labels, and nothing that the policy or the browser complains of', async () => {
      for (const [name = '', path = ''] of places()) {
        const reply = await page.goto(`${base}${path}`)
        expect(reply?.status(), name).to.equal(200)
        await picture(`${name}-desktop`)
        expect(await page.locator('h1').count(), name).to.equal(1)
        const back = await inPage<string>(`getComputedStyle(document.body).backgroundColor`)
        expect(back, `${name} has its style`).to.equal('rgb(246, 247, 249)')
        const nameless = await inPage<number>(
          `[...document.querySelectorAll('input:not([type=hidden]), select, button')].filter((each) =>
            !each.labels?.length && !each.getAttribute('aria-label') && !each.textContent.trim()).length`,
        )
        expect(nameless, `${name}: every field has a label`).to.equal(0)
        const twice = await inPage<number>(
          `((ids) => ids.length - new Set(ids).size)([...document.querySelectorAll('[id]')].map((each) => each.id))`,
        )
        expect(twice, `${name}: no id stands twice`).to.equal(0)
      }
      expect(complaints).to.deep.equal([])
    })

    it('fit a phone: no page is wider than its window', async () => {
      await page.setViewportSize({ width: 360, height: 740 })
      try {
        for (const [name = '', path = ''] of places()) {
          await page.goto(`${base}${path}`)
          await picture(`${name}-phone`)
          const over = await inPage<number>(
            `document.documentElement.scrollWidth - document.documentElement.clientWidth`,
          )
          expect(over, name).to.equal(0)
          const narrowest = await inPage<number>(
            `Math.min(360, ...[...document.querySelectorAll('caption, td[data-label]')].map((each) => each.clientWidth))`,
          )
          expect(narrowest, `${name}: no column of single letters`).to.be.greaterThan(200)
        }
      } finally {
        await page.setViewportSize({ width: 1280, height: 900 })
      }
    })

    it('cut no word in the middle, on a desk or a phone', async () => {
      // A word of more than 20 characters, such as a code, may go on in the next line anywhere.
      const cut = `[...document.querySelectorAll('main, header, footer')].flatMap((root) => {
        const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
        const found = []
        for (let node = walker.nextNode(); node; node = walker.nextNode()) {
          if (node.parentElement.closest('code, pre, option, select, svg, .skip, thead')) continue
          for (const token of node.data.matchAll(/\\S+/g)) {
            if (token[0].length > 20) continue
            for (const word of token[0].matchAll(/[\\p{L}\\p{N}_]+/gu)) {
              const range = document.createRange()
              range.setStart(node, token.index + word.index)
              range.setEnd(node, token.index + word.index + word[0].length)
              const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)))
              if (lines.size > 1) found.push(word[0])
            }
          }
        }
        return found
      }).concat([...document.querySelectorAll('select')].filter((each) => each.scrollWidth > each.clientWidth + 1).map((each) => each.id))`
      try {
        for (const width of [1280, 360]) {
          await page.setViewportSize({ width, height: 740 })
          for (const [name = '', path = ''] of places()) {
            await page.goto(`${base}${path}`)
            expect(await inPage<string[]>(cut), `${name} at ${width}`).to.deep.equal([])
          }
        }
      } finally {
        await page.setViewportSize({ width: 1280, height: 900 })
      }
    })

    it('pause and resume a queue by keyboard alone', async () => {
      await page.goto(`${base}/queues/messages`)
      await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      expect(new URL(page.url()).hash, 'the first stop skips the menu').to.equal('#content')
      const tabTo = async (id: string) => {
        for (let n = 0; n < 60; n += 1) {
          await page.keyboard.press('Tab')
          if ((await inPage<string>(`document.activeElement?.id ?? ''`)) === id) {
            const seen = await inPage<string>(`getComputedStyle(document.activeElement).outlineStyle`)
            expect(seen, 'focus is seen').to.equal('solid')
            return
          }
        }
        throw new Error(`${id} cannot be reached by Tab`)
      }
      await tabTo('reason')
      await page.keyboard.type('the provider asks for it')
      await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      await page.getByRole('status').filter({ hasText: 'Paused' }).waitFor()
      await picture('queue-paused-desktop')
      const paused = () => sql(world.database.admin, `select scope from queue_control where queue = 'messages'`)
      expect(await paused()).to.deep.equal([{ scope: 'queue' }])
      await tabTo('resume-0')
      await page.keyboard.type('it is well again')
      await page.keyboard.press('Enter')
      await page.getByRole('status').filter({ hasText: 'Resumed' }).waitFor()
      expect(await paused()).to.deep.equal([])
    })

    it('replay a group of dead letters: tried first, then for real, once', async () => {
      const states = async () =>
        sql<{ status: string; count: number }>(
          world.database.admin,
          `select status, count(*) as count from jobs where kind = 'messages.trigger' group by status`,
        )
      await page.goto(`${base}/dead`)
      await page.getByRole('link', { name: 'messages.trigger' }).click()
      await page.getByLabel('At most so many').fill('8')
      await page.getByLabel('A minute').fill('60')
      await page.locator('#reason').fill('the network is back')
      await page.getByRole('button', { name: 'Try it first' }).click()
      await page.getByText('8 jobs would run again').waitFor()
      await picture('dead-group-tried-desktop')
      expect(await states()).to.deep.equal([{ status: 'dead', count: 12 }])
      await page.getByRole('button', { name: 'Replay 8 jobs' }).click()
      await page.getByRole('status').filter({ hasText: '8 jobs will run again' }).waitFor()
      expect(new URL(page.url()).pathname).to.equal(`${base}/dead`)
      await page.reload()
      expect((await states()).toSorted((a, b) => a.count - b.count)).to.deep.equal([
        { status: 'dead', count: 4 },
        { status: 'pending', count: 8 },
      ])
      expect(complaints).to.deep.equal([])
    })

    it('are dark where the reader wants it', async () => {
      await page.emulateMedia({ colorScheme: 'dark' })
      await page.goto(`${base}/jobs/${given.jobId}`)
      await picture('job-dark')
      const back = await inPage<string>(`getComputedStyle(document.body).backgroundColor`)
      expect(back).to.equal('rgb(15, 19, 24)')
      await page.goto(base)
      await picture('overview-dark')
    })
  },
)
