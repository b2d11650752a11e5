/* SPDX-License-Identifier: MIT */
/* The series of a view's history and what is found in them: once, for all that show it. */
#ifndef HARNESS_VIEW_VIEW_PAST_H
#define HARNESS_VIEW_VIEW_PAST_H

#include "view/view.h"

/* Sets view->series and view->trends, as `harness trend` judges: all series of the history are one
 * family. Nothing where there is no history. */
void view_find_past(struct view *view);
void view_past_free(struct view_past *past); /* NULL is fine */

#endif
