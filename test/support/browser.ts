import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { chromium } from 'playwright-core'
import type { Browser } from 'playwright-core'

const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome']

const isRunnable = (file: string) => {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The first browser on the PATH, or null. */
export const browserOnPath = (): string | null =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '')
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find(isRunnable) ?? null

/** A real browser without a window; close it. Its own sandbox is off, since tests may run as root. */
export const openBrowser = (executablePath: string): Promise<Browser> =>
  chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'] })
