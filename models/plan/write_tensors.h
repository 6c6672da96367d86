/* The tensors of a plan, as a model file has them. */
#ifndef FERRY_PLAN_WRITE_TENSORS_H
#define FERRY_PLAN_WRITE_TENSORS_H

#include <stdbool.h>

#include "base/status.h"
#include "base/tensor.h"
#include "engine/kernels/kernels.h"

typedef struct ferry_gguf_writer ferry_gguf_writer;
typedef struct ferry_import_options ferry_import_options;
typedef struct ferry_import_plan ferry_import_plan;
typedef struct ferry_import_tensor ferry_import_tensor;

/* The type of a matrix in the model file. */
ferry_type ferry_import_matrix_type(const ferry_import_tensor *tensor, const ferry_import_options *options);
/* How the model file stores a matrix of int8; FERRY_MATRIX_FLOATS for all other tensors. The output matrix of a model
 * without a shortlist has planes. */
ferry_matrix_kind ferry_import_matrix_kind(const ferry_import_plan *plan, const ferry_import_tensor *tensor,
                                           const ferry_import_options *options);
/* Whether this is the output matrix of a model without a shortlist, of floats: the file has a coarse matrix, too. */
bool ferry_import_has_coarse(const ferry_import_plan *plan, const ferry_import_tensor *tensor,
                             const ferry_import_options *options);
/* Declares all tensors, with what belongs to int8 matrices and the coarse output matrix. Errors: UNSUPPORTED (a matrix
 * that int8 cannot hold). */
ferry_status ferry_import_declare(const ferry_import_plan *plan, ferry_gguf_writer *writer,
                                  const ferry_import_options *options, ferry_error *error);
/* Starts the file, and writes the tensors' numbers in the same order. */
ferry_status ferry_import_append(const ferry_import_plan *plan, ferry_gguf_writer *writer,
                                 const ferry_import_options *options, ferry_error *error);

#endif
