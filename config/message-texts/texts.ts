import { english } from './en.ts'
import { spanish } from './es.ts'
import { portuguese } from './pt.ts'
import type { BuiltInKey, MessageTexts } from './templates.ts'

/** The first language is the fallback when no other fits the guest. */
export const builtInTexts: readonly { locale: string; texts: MessageTexts }[] = [
  { locale: 'en', texts: english },
  { locale: 'pt', texts: portuguese },
  { locale: 'es', texts: spanish },
]

/** Automations that every tenant starts with. */
export const builtInAutomations: readonly {
  name: string
  template: BuiltInKey
  enabled: boolean
  trigger: { event: string } | { anchor: 'arrival' | 'checked_out'; days: number; at: string }
}[] = [
  {
    name: 'Confirmation',
    template: 'reservation-confirmed',
    enabled: true,
    trigger: { event: 'reservation.confirmed' },
  },
  {
    name: 'Cancellation',
    template: 'reservation-cancelled',
    enabled: true,
    trigger: { event: 'reservation.cancelled' },
  },
  {
    name: 'Before arrival',
    template: 'pre-arrival',
    enabled: true,
    trigger: { anchor: 'arrival', days: -2, at: '10:00' },
  },
  { name: 'Payment received', template: 'payment-captured', enabled: true, trigger: { event: 'payment.captured' } },
  {
    name: 'How to find us',
    template: 'arrival-day',
    enabled: false,
    trigger: { anchor: 'arrival', days: 0, at: '09:00' },
  },
  {
    name: 'Thanks after the stay',
    template: 'thank-you',
    enabled: false,
    trigger: { anchor: 'checked_out', days: 1, at: '10:00' },
  },
]
