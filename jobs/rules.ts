import { readBooking } from '../src/booking/stored-line.js';
import type { Rules } from '../src/ledger/rules.js';
import { makesDayGood, reviewsDay } from '../src/rules/good-day.js';
import { noticesOfRun, noticesOfVolume } from '../src/rules/run-notices.js';
import {
  abandonRun,
  cancelRun,
  claimStep,
  finishTakeOver,
  initialState,
  mayAwaitResult,
  reopenAbandoned,
  settleRun,
  startDelivery,
  takeOverSteps,
} from '../src/rules/state-machine.js';

/** The rules that every ledger is opened with. */
export const rules: Rules = {
  readBooking,
  startDelivery,
  takeOverSteps,
  finishTakeOver,
  reopenAbandoned,
  settleRun,
  cancelRun,
  abandonRun,
  reviewsDay,
  makesDayGood,
  initialState,
  claimStep,
  mayAwaitResult,
  noticesOfRun,
  noticesOfVolume,
};
