import { nilId } from '../../config/nil-id.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { addressOfImage, imagesDue, recordCheck } from '../../db/properties/index.ts'
import type { Finding } from '../../db/properties/index.ts'
import { checkImage, requestImageChecks } from '../../jobs/properties.ts'
import { readCall } from '../lib/external-call.ts'
import { callOut } from '../lib/outgoing.ts'
import type { OutgoingOutcome } from '../lib/outgoing.ts'
import { processor } from '../lib/processor.ts'
import type { Processor } from '../lib/processor.ts'
import { readImageHeader } from './image-header.ts'

const mostBytes = 20 * 1024 * 1024
// Profiles and previews stand before the size of a JPEG.
const keptBytes = 1024 * 1024
const leastWidth = 800
const weekMs = 7 * 86_400_000
const atOnce = 200

// Failures that another try may mend.
const passing = new Set([408, 425, 429, 500, 502, 503, 504])

/** Finding of a check of an image; `again` if another check may find otherwise. */
const findingOf = async (outcome: OutgoingOutcome): Promise<{ finding: Finding; again: boolean }> => {
  const broken = (problem: string, again = false) => ({ finding: { problem }, again })
  if (outcome.kind !== 'answered')
    return broken(outcome.code.toLowerCase(), outcome.kind !== 'refused' && outcome.code !== 'too_large')
  if (outcome.status !== 200) return broken(`status_${outcome.status}`, passing.has(outcome.status))
  const header = await readImageHeader(outcome.body)
  if (!header) return broken('file_type_mismatch')
  if (header.width < leastWidth) return broken('too_narrow')
  return { finding: { ...header, bytes: outcome.bytes }, again: false }
}

/** Looks at pictures where they are hosted. */
export const gallery: readonly Processor[] = [
  processor(checkImage, async (context) => {
    const { galleryImageId } = context.payload
    const url = await context.effect((trx) => addressOfImage(trx, galleryImageId))
    if (url === null) return context.skip('image_removed')
    const { outcome } = await readCall(context, { provider: 'images', operation: 'fetch' }, async () => {
      const seen = await callOut({ url, headers: { accept: 'image/*' }, mostBytes, keptBytes, signal: context.signal })
      return { kind: seen.kind === 'answered' ? ('known' as const) : seen.kind, outcome: seen }
    })
    const { finding, again } = await findingOf(outcome)
    if (again && context.attempt < (checkImage.tries ?? 1))
      return context.retryLater(`the image could not be looked at: ${'problem' in finding ? finding.problem : ''}`)
    return context.finish((trx) => recordCheck(trx, galleryImageId, finding))
  }),

  processor(requestImageChecks, async ({ effect, finish, signal }) => {
    const before = new Date(Date.now() - weekMs)
    let after = { due: 'epoch', imageId: nilId }
    while (!signal.aborted) {
      const from = after
      const last = await effect(async (trx) => {
        const due = await imagesDue(trx, before, from, atOnce)
        for (const { tenantId, imageId } of due)
          await enqueue(trx, checkImage, { tenantId, galleryImageId: imageId }, { uniqueKey: imageId })
        return due.at(-1)
      })
      if (!last) break
      after = last
    }
    await finish()
  }),
]
