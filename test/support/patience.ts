import { settings } from '../../config/env.ts'

/** Does something while a change soon gives up what another one holds: tests wait long for it otherwise, so that a slow machine changes nothing. */
export const impatiently = async <T>(work: () => Promise<T>): Promise<T> => {
  const { lockPatienceMs } = settings
  settings.lockPatienceMs = 500
  try {
    return await work()
  } finally {
    settings.lockPatienceMs = lockPatienceMs
  }
}
