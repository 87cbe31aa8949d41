import { model } from '../lib/models.ts'
import type { Conditions } from './rules/automation-conditions.ts'
import type { Content } from './rules/contents.ts'
import type { PlanStep } from './rules/plan.ts'
import type { Segment } from './rules/segment.ts'
import type { Trigger } from './rules/trigger.ts'

export type Verification = {
  status: 'unverified' | 'pending' | 'verified' | 'failed'
  /** Of the TXT record that proves the domain of a sender. */
  code?: string | null
  checkedAt?: string | null
  error?: string | null
}

export const Message = model('message')
export const Suppression = model('suppression')
export const MessageTemplate = model<'message_template', { urgency: 'immediate' | 'normal' }>('message_template')
export const MessageTemplateVersion = model<'message_template_version', { contents: Content[] }>(
  'message_template_version',
)
export const Automation = model<'automation', { trigger: Trigger; conditions: Conditions; plan: PlanStep[] | null }>(
  'automation',
)
export const MessageChannel = model<'message_channel', { verification: Verification }>('message_channel')
export const MessageCallback = model('message_callback')
export const Conversation = model('conversation')
export const Campaign = model<
  'campaign',
  { segment: Segment; plan: PlanStep[] | null; excluded: Record<string, number> }
>('campaign')
